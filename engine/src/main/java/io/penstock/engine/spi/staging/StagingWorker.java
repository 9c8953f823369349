// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.spi.staging;

import io.penstock.engine.spi.ffi.CpuSet;
import io.penstock.engine.spi.ffi.TimerSlack;
import java.util.ArrayList;
import java.util.List;

/**
 * Takes ready requests and executes their host I/O. If the device allows any thread, it starts their copies too, and
 * fills the next staging buffer while the previous one is copied.
 */
final class StagingWorker implements Runnable {

    /**
     * How long a staging worker waits for a copy before it serves others: many times the duration of a copy on an idle
     * link.
     */
    private static final long PATIENCE_NANOS = 1_000_000;

    /**
     * How long a staging worker that could fill another buffer waits for a copy before it looks for a request, and how often
     * in a row: the next request often arrives before the copy has ended.
     */
    private static final long SLICE_NANOS = 20_000;

    private static final int MOST_SLICES = 25;

    private final StagingWorkers pool;
    private final List<StagedRequest> copying = new ArrayList<>(); // oldest first
    private int slices; // since a copy has ended or a request was taken
    int nextQueue; // for the pool
    long spinNanos; // for the pool: that of the queue it served last
    private CpuSet processors = CpuSet.ANY; // on which the thread runs

    final int index; // among those of the pool

    StagingWorker(StagingWorkers pool, int index) {
        this.index = index;
        this.pool = pool;
    }

    @Override
    public void run() {
        TimerSlack.minimize();
        while (!pool.isStopped()) {
            turn(true);
        }
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
            work(staged);
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
            work(staged);
        }
        return true;
    }

    private void work(StagedRequest staged) {
        StagedQueue queue = staged.queue;
        moveTo(queue.processors);
        while (queue.proceeds(staged)) {
            if (staged.step == StagedRequest.Step.COPY) {
                copy(queue, staged);
                return;
            }
            if (!queue.stepped(staged, queue.host.run(staged))) {
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

    private void copy(StagedQueue queue, StagedRequest staged) {
        if (queue.copies.start(staged)) {
            copying.add(staged);
        } else {
            queue.end(staged, staged.failure);
        }
    }
}
