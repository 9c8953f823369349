// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.spi.staging;

import io.penstock.engine.spi.Shared;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Semaphore;
import org.jspecify.annotations.Nullable;

/**
 * The fillers of the process, which all staged queues share: eight devices do not mean eight times as many threads.
 * They start with the first queue and stop with the last. The next piece is taken from one queue after another.
 *
 * <p>Thread-safe.
 */
final class FillerPool {

    private static final Shared<Object, FillerPool> POOLS = new Shared<>(FillerPool::stop);
    private static final Object PROCESS = "the fillers of the process";

    private final Shared<Object, FillerPool> pools; // that counts its users
    private final int size;
    private final List<Thread> threads = new ArrayList<>();
    private final CopyOnWriteArrayList<StagedQueue> queues = new CopyOnWriteArrayList<>();

    // As many permits, with one that is handed over, as there are pieces in all ready queues: a thread with a permit
    // finds a piece.
    private final Semaphore pieces = new Semaphore(0);
    private final Lookout lookout = new Lookout();
    private volatile boolean stopped;

    private FillerPool(Shared<Object, FillerPool> pools, int size, boolean threaded) {
        this.pools = pools;
        this.size = size;
        for (int i = 1; threaded && i <= size; i++) {
            Thread thread = new Thread(new Filler(this), "penstock-filler-" + i);
            thread.setDaemon(true);
            thread.setContextClassLoader(null); // a shared thread keeps no application's classes alive
            threads.add(thread);
        }
        threads.forEach(Thread::start);
    }

    /**
     * Joins the pool of the process.
     *
     * @param wanted how many fillers; 0 takes what there is, or what suits the processors
     * @throws IllegalArgumentException if there is a pool of another size
     */
    static FillerPool join(int wanted) {
        int size = wanted == 0 ? suited(Runtime.getRuntime().availableProcessors()) : wanted;
        FillerPool pool = POOLS.open(PROCESS, () -> new FillerPool(POOLS, size, true));
        if (wanted != 0 && wanted != pool.size) {
            pool.leave();
            throw new IllegalArgumentException(StagingOptions.FILLERS + "=" + wanted + ", but the process has "
                    + pool.size + " fillers since its first staged backend was opened");
        }
        return pool;
    }

    /** Joins a pool of its own that has no threads; the caller turns its fillers. */
    static FillerPool stepped(int size) {
        Shared<Object, FillerPool> own =
                new Shared<>(FillerPool::stop); // the pool goes with its users, whether they leave or not
        return own.open(PROCESS, () -> new FillerPool(own, size, false));
    }

    /** Counts one more user. */
    FillerPool enter() {
        pools.join(this);
        return this;
    }

    /** Counts one user less; the last to leave stops it. */
    void leave() {
        pools.leave(this);
    }

    private void stop() {
        stopped = true;
        pieces.release(threads.size());
    }

    /**
     * Three quarters of the processors while one device wants more, then half: a filler copies memory, and its peers are
     * the application's threads. On an H200 with 16 processors 10 move what 12 do for five sixths of the processor
     * time, run after run; 8 do so in some runs, and in others up to a fifth less (docs/results/h200.md).
     */
    static int suited(int processors) {
        int ofOneDevice = Math.min(SlotSizes.MOST_FILLERS_PER_QUEUE, processors * 3 / 4);
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

    /** Takes a queue out, of which nothing is in flight, and leaves for it. */
    void remove(StagedQueue queue) {
        queues.remove(queue);
        leave();
    }

    /** Announces one more ready piece. */
    void announce() {
        if (!lookout.hand()) {
            pieces.release();
        }
    }

    private void acquire(long spinNanos) {
        if (!pieces.tryAcquire() && !(spinNanos > 0 && lookout.look(pieces, spinNanos))) {
            pieces.acquireUninterruptibly();
        }
    }

    /**
     * Takes a ready piece; the queue after the one that the filler took from last comes first.
     *
     * @return null if there is none, or, where it may wait, if the pool has stopped
     */
    @Nullable
    Piece take(Filler filler, boolean mayWait) {
        if (mayWait) {
            acquire(filler.spinNanos);
        } else if (!pieces.tryAcquire()) {
            return null;
        }
        // One look may miss the piece: others take, and hand in, before and behind it. There is one, so look again.
        while (!stopped) {
            Object[] current = queues.toArray();
            for (int i = 0; i < current.length; i++) {
                int index = (filler.nextQueue + i) % current.length;
                Piece piece = ((StagedQueue) current[index]).ready.poll();
                if (piece != null) {
                    filler.nextQueue = index + 1;
                    filler.spinNanos = piece.queue.spinNanos();
                    piece.takeForFiller();
                    return piece;
                }
            }
            Thread.onSpinWait();
        }
        return null;
    }
}
