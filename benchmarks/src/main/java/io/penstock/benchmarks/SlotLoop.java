// SPDX-License-Identifier: Apache-2.0
package io.penstock.benchmarks;

import java.io.IOException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/** A contender that works by callbacks: as many chains of operations as there are slots, each beginning the next. */
abstract class SlotLoop implements Contender {

    private static final int PATIENCE_SECONDS = 10;
    private static final int STRIDE = 16; // counts of different slots are on different cache lines

    final Workload workload;
    final Slots slots;
    private final long[] counts;
    private final AtomicReference<@Nullable Throwable> failure = new AtomicReference<>();
    private volatile boolean stopping;
    private volatile CountDownLatch ended = new CountDownLatch(0);

    SlotLoop(Workload workload, Slots slots) {
        this.workload = workload;
        this.slots = slots;
        this.counts = new long[workload.depth() * STRIDE];
    }

    /** Begins an operation; {@link #completed} or {@link #failed} is to be called once, on any thread. */
    abstract void begin(int slot, long offset);

    /** Starts the chains. */
    void beginAll() {
        for (int slot = 0; slot < workload.depth(); slot++) {
            begin(slot, slots.next(slot));
        }
    }

    final void completed(int slot, int bytes) {
        if (bytes != workload.blockBytes()) {
            failed(new IOException(name() + ": " + bytes + " bytes instead of " + workload.blockBytes()));
            return;
        }
        counts[slot * STRIDE]++;
        if (stopping) {
            ended.countDown();
        } else {
            begin(slot, slots.next(slot));
        }
    }

    final void failed(Throwable cause) {
        failure.compareAndSet(null, cause);
        ended.countDown();
    }

    @Override
    public Measure run(long nanos) throws Exception {
        ended = new CountDownLatch(workload.depth());
        stopping = false;
        long before = count();
        return Measure.of(() -> {
            beginAll();
            TimeUnit.NANOSECONDS.sleep(nanos);
            stopping = true;
            if (!ended.await(PATIENCE_SECONDS, TimeUnit.SECONDS)) {
                throw new IOException(ended.getCount() + " operations have not ended after " + PATIENCE_SECONDS + " s");
            }
            Throwable cause = failure.get();
            if (cause != null) {
                throw new IOException(name() + " failed", cause);
            }
            return count() - before;
        });
    }

    private long count() {
        long sum = 0;
        for (int slot = 0; slot < workload.depth(); slot++) {
            sum += counts[slot * STRIDE];
        }
        return sum;
    }

    @Override
    public void verify() throws IOException {
        slots.verify(name());
    }
}
