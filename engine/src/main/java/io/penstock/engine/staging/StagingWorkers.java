// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.staging;

import io.penstock.engine.kit.DaemonThread;
import io.penstock.engine.spi.NativeFile;
import io.penstock.engine.spi.Shared;
import io.penstock.engine.spi.staging.StagingOptions;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * The staging workers of the process, which all staged queues share. They start with the first queue and stop with the
 * last; unless an option sets their number, the second queue adds two thirds of what one device needs, and each further
 * one half of that, up to three quarters of the processors. Each queue has staging workers that prefer it, see
 * {@link #take}.
 *
 * <p>Only as many are awake as the queues with requests in flight need. With more, the copies of one device are spread
 * over more threads, each of which waits for its own: that costs twice the processor time, and rate
 * (docs/results/h200.md).
 *
 * <p>Thread-safe.
 */
final class StagingWorkers {

    private static final Shared<Object, StagingWorkers> POOLS = new Shared<>(StagingWorkers::stop);

    /**
     * The limit for one queue, since more staging workers gain one device nothing: 12 fill its link, 16 PCIe gen5
     * lanes. On some hosts 10 do, with less processor time; on slower ones they do not (docs/results/h200.md).
     */
    static final int MOST_PER_QUEUE = 12;

    /** How many threads may hang, for each worker. */
    private static final int MOST_HUNG = 4;

    private static final Object PROCESS = "the staging workers of the process";

    private final Shared<Object, StagingWorkers> pools; // that counts its users
    private final int perQueue;
    private final int most;
    private final boolean threaded;
    private final List<Thread> threads = new ArrayList<>(); // guarded by this
    private final List<StagingWorker> workers = new CopyOnWriteArrayList<>(); // one for each thread
    final HungFiles hungFiles = new HungFiles();
    private volatile int size; // written under this
    private volatile StagedQueue[] queues = {}; // written under this

    // A worker sleeps in one of three places: here for want of a request, with the poller because one thread polls for
    // all, and as surplus because fewer workers do. One place for the last two would wake whom nobody needs.
    // The permits, plus one that is being handed over, equal the requests in all ready queues: a thread with a permit
    // finds a request.
    private final Semaphore allStaged = new Semaphore(0);
    private final SinglePoller poller = new SinglePoller();
    private volatile boolean stopped;

    private final AtomicInteger busyQueues = new AtomicInteger();
    // How many workers do not sleep as surplus. A surplus worker decrements it before it waits for a permit of the
    // semaphore; the thread that releases the permit increments it first.
    private final AtomicInteger awake = new AtomicInteger();
    private final Semaphore surplus = new Semaphore(0);

    private StagingWorkers(Shared<Object, StagingWorkers> pools, int perQueue, int most, boolean threaded) {
        this.pools = pools;
        this.perQueue = perQueue;
        this.most = most;
        this.threaded = threaded;
        grow(perQueue);
    }

    private synchronized void grow(int wanted) {
        int target = Math.min(most, wanted);
        while (size < target) {
            if (threaded) {
                StagingWorker worker = new StagingWorker(this, size);
                DaemonThread thread = new DaemonThread(name(size), worker);
                if (threads.isEmpty()) {
                    thread.start();
                } else if (!thread.tryStart()) {
                    return; // those that there are do the work
                }
                threads.add(thread);
                workers.add(worker);
            }
            awake.incrementAndGet();
            size++;
        }
    }

    private static String name(int worker) {
        return "penstock-staging-" + (worker + 1);
    }

    /**
     * Lets other threads take the place of workers whose calls do not return, such as of a disk that hangs: their
     * copies are of other files, and other files' requests wait for them. Called from time to time while requests are
     * in flight.
     */
    void replaceHung(long now) {
        for (StagingWorker worker : workers) {
            if (worker.hangs(now)) {
                replace(worker, now);
            }
        }
    }

    private synchronized void replace(StagingWorker worker, long now) {
        long start = stopped || hungFiles.count() >= MOST_HUNG * size ? 0 : worker.hungSince(now);
        if (start != 0) {
            DaemonThread thread = new DaemonThread(name(worker.index), () -> worker.takeOver(start));
            if (thread.tryStart()) {
                threads.set(worker.index, thread);
            }
        }
    }

    /** Notes that a call has returned whose thread is no worker any more. */
    void returned(NativeFile file) {
        if (hungFiles.remove(file)) {
            for (StagedQueue queue : queues) {
                queue.resume();
            }
        }
    }

    /**
     * Joins the pool of the process.
     *
     * @param wanted how many staging workers; 0 for the existing number, or one that suits the processors
     * @throws IllegalArgumentException if there is a pool of another size
     */
    static StagingWorkers join(int wanted) {
        int processors = Runtime.getRuntime().availableProcessors();
        int perQueue = wanted == 0 ? suited(processors) : wanted;
        int most = wanted == 0 ? most(processors) : wanted;
        StagingWorkers pool = POOLS.open(PROCESS, () -> new StagingWorkers(POOLS, perQueue, most, true));
        int size = pool.size();
        if (wanted != 0 && wanted != size) {
            pool.leave();
            throw new IllegalArgumentException(StagingOptions.WORKERS + "=" + wanted + ", but this process already has "
                    + size + " staging workers, started with its first staged backend");
        }
        return pool;
    }

    /** Joins a separate pool without threads; the caller turns its staging workers. */
    static StagingWorkers stepped(int size) {
        return separate(size, size, false);
    }

    /** Joins a separate pool that grows. */
    static StagingWorkers separate(int perQueue, int most) {
        return separate(perQueue, most, true);
    }

    private static StagingWorkers separate(int perQueue, int most, boolean threaded) {
        Shared<Object, StagingWorkers> own =
                new Shared<>(StagingWorkers::stop); // collected with its users, whether they leave or not
        return own.open(PROCESS, () -> new StagingWorkers(own, perQueue, most, threaded));
    }

    /** Counts one more user. */
    StagingWorkers enter() {
        pools.join(this);
        return this;
    }

    /** Counts one user less; the last to leave stops it. */
    void leave() {
        pools.leave(this);
    }

    private synchronized void stop() {
        stopped = true;
        allStaged.release(threads.size());
        surplus.release(threads.size());
    }

    /**
     * Returns how many staging workers suit one device: three quarters of the processors, up to the number that fills a
     * link.
     */
    static int suited(int processors) {
        return Math.min(MOST_PER_QUEUE, most(processors));
    }

    /** Returns how many suit any number of devices: they copy memory, and compete with the application's threads. */
    static int most(int processors) {
        return Math.max(2, processors * 3 / 4);
    }

    /** Returns how many staging workers there are now. */
    int size() {
        return size;
    }

    /** Returns the threads, which are not to be changed. */
    synchronized List<Thread> threads() {
        return List.copyOf(threads);
    }

    boolean isStopped() {
        return stopped;
    }

    synchronized void add(StagedQueue queue) {
        List<StagedQueue> all = new ArrayList<>(List.of(queues));
        all.add(queue);
        queues = all.toArray(StagedQueue[]::new);
        grow(wanted(all.size()));
    }

    /** Counts a queue that has requests in flight from now on. */
    void begin() {
        busyQueues.incrementAndGet();
    }

    /** Counts a queue that has none any more. */
    void finish() {
        busyQueues.decrementAndGet();
    }

    /** Returns how many workers would serve a queue that begins now if no other has requests in flight; otherwise 1. */
    int idleParallelism() {
        return busyQueues.get() == 0 ? needed() : 1;
    }

    /** Returns how many staging workers do not sleep as surplus. */
    int awake() {
        return awake.get();
    }

    private int needed() {
        return Math.min(size, wanted(Math.max(1, busyQueues.get())));
    }

    /**
     * Returns how many staging workers suit that many queues. Two queues can use all of the memory's bandwidth: more
     * workers would only have more staging buffers in use, which leave the processor's caches (decision 0026).
     */
    private int wanted(int queueCount) {
        int second = queueCount > 1 ? Math.max(1, 2 * perQueue / 3) : 0;
        int further = Math.max(0, queueCount - 2) * Math.max(1, perQueue / 2);
        return perQueue + second + further;
    }

    /** Removes a queue that has nothing in flight, and leaves on its behalf. */
    void remove(StagedQueue queue) {
        synchronized (this) {
            List<StagedQueue> others = new ArrayList<>(List.of(queues));
            others.remove(queue);
            queues = others.toArray(StagedQueue[]::new);
        }
        leave();
    }

    /** Announces one more ready request. */
    void announce() {
        if (poller.handOver()) {
            return;
        }
        boolean idle = allStaged.hasQueuedThreads();
        allStaged.release();
        int now = awake.get();
        if (!idle && now < size && now < needed() && awake.compareAndSet(now, now + 1)) {
            surplus.release();
        }
    }

    /** Returns true if the calling worker is not needed, and is no longer counted as awake. */
    private boolean retires() {
        int now = awake.get();
        return now > needed() && awake.compareAndSet(now, now - 1);
    }

    private void acquire(long spinNanos) {
        if (!allStaged.tryAcquire() && !(spinNanos > 0 && poller.poll(allStaged, spinNanos))) {
            allStaged.acquireUninterruptibly();
        }
    }

    /**
     * Takes a ready request. Each busy queue has staging workers that prefer it, so that two devices are busy at the
     * same time, and none of these waits for a copy of the other; they serve others while it has no request. If there
     * are more queues than staging workers, each of these starts at the queue after the one from which it last took.
     *
     * @return null if there is none, or, if it may wait, once the pool has stopped
     */
    @Nullable
    StagedRequest take(StagingWorker worker, boolean mayWait) {
        if (mayWait) {
            while (!stopped && retires()) {
                surplus.acquireUninterruptibly();
            }
            acquire(worker.spinNanos);
        } else if (awake.get() > needed() || !allStaged.tryAcquire()) {
            return null; // a surplus worker first waits for its copies
        }
        // One scan may miss the request, since other threads add and take before and behind it. There is one, so scan
        // again.
        while (!stopped) {
            StagedQueue[] current = queues;
            int first = size < current.length ? worker.nextQueue : preferred(current, worker.index);
            for (int i = 0; i < current.length; i++) {
                int index = (first + i) % current.length;
                StagedRequest staged = current[index].ready.poll();
                if (staged != null) {
                    worker.nextQueue = index + 1;
                    worker.spinNanos = staged.queue.spinNanos();
                    staged.takeForWorker();
                    return staged;
                }
            }
            Thread.onSpinWait();
        }
        return null;
    }

    /** Returns which queue a worker prefers among those that have requests in flight. */
    private static int preferred(StagedQueue[] queues, int worker) {
        int busy = 0;
        for (StagedQueue queue : queues) {
            busy += queue.isBusy() ? 1 : 0;
        }
        int rank = busy == 0 ? 0 : worker % busy;
        for (int index = 0; index < queues.length; index++) {
            if (queues[index].isBusy() && rank-- == 0) {
                return index;
            }
        }
        return 0; // a queue has ended its requests meanwhile
    }
}
