// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.spi.staging;

import io.penstock.engine.spi.Shared;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Semaphore;
import org.jspecify.annotations.Nullable;

/**
 * The staging workers of the process, which all staged queues share: eight devices do not need eight times as many
 * threads. They start with the first queue and stop with the last. The next request is taken from one queue after
 * another.
 *
 * <p>Thread-safe.
 */
final class StagingWorkers {

    private static final Shared<Object, StagingWorkers> POOLS = new Shared<>(StagingWorkers::stop);
    private static final Object PROCESS = "the staging workers of the process";

    private final Shared<Object, StagingWorkers> pools; // that counts its users
    private final int size;
    private final List<Thread> threads = new ArrayList<>();
    private final CopyOnWriteArrayList<StagedQueue> queues = new CopyOnWriteArrayList<>();

    // Its permits, plus one that is being handed over, equal the requests in all ready queues: a thread with a permit
    // finds a request.
    private final Semaphore allStaged = new Semaphore(0);
    private final SinglePoller poller = new SinglePoller();
    private volatile boolean stopped;

    private StagingWorkers(Shared<Object, StagingWorkers> pools, int size, boolean threaded) {
        this.pools = pools;
        this.size = size;
        for (int i = 1; threaded && i <= size; i++) {
            Thread thread = new Thread(new StagingWorker(this), "penstock-staging-" + i);
            thread.setDaemon(true);
            thread.setContextClassLoader(null); // a shared thread must not keep an application's classes alive
            threads.add(thread);
        }
        threads.forEach(Thread::start);
    }

    /**
     * Joins the pool of the process.
     *
     * @param wanted how many staging workers; 0 for the existing number, or one that suits the processors
     * @throws IllegalArgumentException if there is a pool of another size
     */
    static StagingWorkers join(int wanted) {
        int size = wanted == 0 ? suited(Runtime.getRuntime().availableProcessors()) : wanted;
        StagingWorkers pool = POOLS.open(PROCESS, () -> new StagingWorkers(POOLS, size, true));
        if (wanted != 0 && wanted != pool.size) {
            pool.leave();
            throw new IllegalArgumentException(StagingOptions.WORKERS + "=" + wanted + ", but this process already has "
                    + pool.size + " staging workers, started with its first staged backend");
        }
        return pool;
    }

    /** Joins a separate pool without threads; the caller turns its staging workers. */
    static StagingWorkers stepped(int size) {
        Shared<Object, StagingWorkers> own =
                new Shared<>(StagingWorkers::stop); // collected with its users, whether they leave or not
        return own.open(PROCESS, () -> new StagingWorkers(own, size, false));
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

    private void stop() {
        stopped = true;
        allStaged.release(threads.size());
    }

    /**
     * Three quarters of the processors up to the limit for one device, then half: a staging worker copies memory, and
     * competes with the application's threads. On an H200 with 16 processors, 10 workers reach the throughput of 12
     * with five sixths of the processor time in every run; 8 do so in some runs, and up to a fifth less in others
     * (docs/results/h200.md).
     */
    static int suited(int processors) {
        int ofOneDevice = Math.min(StagingSizes.MOST_WORKERS_PER_QUEUE, processors * 3 / 4);
        return Math.max(2, Math.min(32, Math.max(ofOneDevice, processors / 2)));
    }

    int size() {
        return size;
    }

    List<Thread> threads() {
        return threads;
    }

    boolean isStopped() {
        return stopped;
    }

    void add(StagedQueue queue) {
        queues.add(queue);
    }

    /** Removes a queue that has nothing in flight, and leaves on its behalf. */
    void remove(StagedQueue queue) {
        queues.remove(queue);
        leave();
    }

    /** Announces one more ready request. */
    void announce() {
        if (!poller.handOver()) {
            allStaged.release();
        }
    }

    private void acquire(long spinNanos) {
        if (!allStaged.tryAcquire() && !(spinNanos > 0 && poller.poll(allStaged, spinNanos))) {
            allStaged.acquireUninterruptibly();
        }
    }

    /**
     * Takes a ready request; starts at the queue after the one from which the staging worker last took.
     *
     * @return null if there is none, or, if it may wait, once the pool has stopped
     */
    @Nullable
    StagedRequest take(StagingWorker worker, boolean mayWait) {
        if (mayWait) {
            acquire(worker.spinNanos);
        } else if (!allStaged.tryAcquire()) {
            return null;
        }
        // One scan may miss the request, since other threads add and take before and behind it. There is one, so scan
        // again.
        while (!stopped) {
            Object[] current = queues.toArray();
            for (int i = 0; i < current.length; i++) {
                int index = (worker.nextQueue + i) % current.length;
                StagedRequest staged = ((StagedQueue) current[index]).ready.poll();
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
}
