// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.staging;

import io.penstock.engine.kit.ffi.CpuSet;
import io.penstock.engine.kit.ffi.TimerSlack;
import io.penstock.engine.spi.NativeFile;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLongFieldUpdater;
import org.jspecify.annotations.Nullable;

/**
 * Takes ready requests and executes their host I/O. If the device allows any thread, it starts their copies too, and
 * fills the next staging buffer while the previous one is copied.
 */
final class StagingWorker implements Runnable {

    /**
     * How long a call of host I/O may take before another thread goes on as this worker. Far above what a healthy disk
     * takes while all workers read from it: 12 calls of 4 MiB at a time take 8 ms at 6 GB/s and 50 ms at 1 GB/s, and a
     * thread for each of these, with the file's other requests held back, would cost such a load its rate.
     */
    static final long HANG_NANOS = 250_000_000;

    private static final AtomicLongFieldUpdater<StagingWorker> SINCE =
            AtomicLongFieldUpdater.newUpdater(StagingWorker.class, "since");

    /** Ends the thread that was this worker before another took its place. */
    private static final class Replaced extends RuntimeException {

        private static final long serialVersionUID = 1;

        Replaced() {
            super("another thread is this worker", null, false, false);
        }
    }

    /**
     * How long a staging worker waits for a copy before it serves others: many times the duration of a copy on an idle
     * link.
     */
    private static final long PATIENCE_NANOS = 1_000_000;

    /**
     * How long a staging worker that could fill another buffer waits for a copy before it looks for a request, and how
     * often in a row: the next request often arrives before the copy has ended.
     */
    private static final long SLICE_NANOS = 20_000;

    private static final int MOST_SLICES = 25;

    private final StagingWorkers pool;
    private final List<StagedRequest> copying = new ArrayList<>(); // oldest first
    private int slices; // since a copy has ended or a request was taken
    int nextQueue; // for the pool
    long spinNanos; // for the pool: the time of the queue that it served last
    private CpuSet processors = CpuSet.ANY; // on which the thread runs

    final int index; // among the pool's workers

    // The thread that is this worker owns everything above. It gives that away, to whom changes "since" from the start
    // of its call to 0 first: itself, once the call has returned, or a thread that takes its place.
    private @Nullable NativeFile called; // by the call since then; written before "since"
    private volatile long since; // 0 if none is being made
    private long replacing; // the start of the call for which a thread was started; guarded by the pool

    StagingWorker(StagingWorkers pool, int index) {
        this.index = index;
        this.pool = pool;
    }

    @Override
    public void run() {
        TimerSlack.minimize();
        processors = CpuSet.ANY; // another thread may have been this worker
        try {
            while (!pool.isStopped()) {
                turn(true);
            }
        } catch (Replaced e) {
            return; // the other one goes on
        }
    }

    /** Returns whether a call has not returned for long; any thread. */
    boolean hangs(long now) {
        long start = since;
        return start != 0 && now - start >= HANG_NANOS;
    }

    /** Returns the start of a call that hangs, the first time that this is asked for; else 0. */
    long hungSince(long now) {
        long start = since;
        if (start == 0 || start == replacing || now - start < HANG_NANOS) {
            return 0;
        }
        replacing = start;
        return start;
    }

    /** Makes the calling thread this worker, unless the call that began at {@code start} has returned. */
    void takeOver(long start) {
        NativeFile file = called;
        if (file == null) {
            return;
        }
        pool.hungFiles.add(file); // before the other thread can remove it
        if (SINCE.compareAndSet(this, start, 0)) {
            run();
        } else {
            pool.returned(file);
        }
    }

    /** Executes the host I/O of a step. */
    private long executed(StagedQueue queue, StagedRequest staged) {
        if (staged.request.isCopy()) {
            return queue.host.run(staged); // of memory alone
        }
        NativeFile file = staged.file();
        long start = System.nanoTime() | 1; // not 0
        called = file;
        since = start;
        long moved = queue.host.run(staged);
        if (!SINCE.compareAndSet(this, start, 0)) {
            pool.returned(file);
            if (queue.stepped(staged, moved)) {
                queue.hand(staged);
            }
            throw new Replaced();
        }
        return moved;
    }

    /**
     * Executes one step, if there is one.
     *
     * @param mayWait whether to wait for a step
     * @return whether anything was done
     */
    boolean turn(boolean mayWait) {
        boolean settled = settleEnded();
        boolean full =
                !copying.isEmpty() && copying.size() >= copying.get(0).queue.buffersPerWorker();
        if (full && (!mayWait || settle(0, PATIENCE_NANOS))) {
            return settled || mayWait;
        }
        // Full and out of patience, perhaps because a device hangs: requests of other queues have staging buffers, and
        // may proceed.
        StagedRequest staged = pool.take(this, mayWait && copying.isEmpty());
        if (staged != null) {
            slices = 0;
            if (staged.queue.givesWay(staged)) {
                staged.queue.park(staged);
            } else {
                work(staged);
            }
            return true;
        }
        // No thread sleeps on the semaphore while its copy is in flight: the completion would be seen too late.
        return (!copying.isEmpty() && settle(0, mayWait ? patience() : 0)) || settled;
    }

    private long patience() {
        if (slices == MOST_SLICES) {
            return PATIENCE_NANOS;
        }
        slices++;
        return SLICE_NANOS;
    }

    /** Completes all copies that have ended: one of another device may follow one of a hung device. */
    private boolean settleEnded() {
        boolean any = false;
        for (int i = 0; i < copying.size(); ) {
            if (settle(i, 0)) {
                any = true;
            } else {
                i++;
            }
        }
        return any;
    }

    private boolean settle(int index, long waitNanos) {
        StagedRequest staged = copying.get(index);
        DeviceSide copies = staged.queue.copies;
        if (!(waitNanos != 0 ? copies.await(staged, waitNanos) : copies.poll(staged))) {
            return false;
        }
        slices = 0;
        copying.remove(index);
        if (staged.queue.stepped(staged, staged.moved)) {
            follow(staged);
        }
        return true;
    }

    /** Executes the step behind a copy, or lets another thread do so. */
    private void follow(StagedRequest staged) {
        if (staged.queue.waits(staged)) {
            staged.queue.hand(staged);
        } else {
            work(staged);
        }
    }

    private void work(StagedRequest staged) {
        StagedQueue queue = staged.queue;
        moveTo(queue.processors);
        while (queue.proceeds(staged)) {
            if (staged.step == StagedRequest.Step.COPY) {
                if (queue.startsCopy(staged)) {
                    copying.add(staged);
                }
                return;
            }
            if (!queue.stepped(staged, executed(queue, staged))) {
                return;
            }
            if (!queue.fuses()) {
                queue.hand(staged);
                return;
            }
        }
    }

    /** Few workers change between devices of different nodes: each prefers one queue. */
    private void moveTo(CpuSet wanted) {
        if (!wanted.equals(processors)) {
            wanted.bind();
            processors = wanted;
        }
    }
}
