// SPDX-License-Identifier: Apache-2.0
package io.penstock.benchmarks;

import java.io.IOException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A contender that works by callbacks: as many chains of operations as there are slots, each beginning the next. A slot
 * whose operation does not end is left out of the runs to come until it does, and the report says how many there were.
 */
abstract class SlotLoop implements Contender {

    private static final int PATIENCE_SECONDS = 10;
    private static final int STRIDE = 16; // counts of different slots are on different cache lines
    private static final int IDLE = 0;
    private static final int FRAMES = 6;

    final Workload workload;
    final Slots slots;
    private final long[] counts;
    private final AtomicIntegerArray begunIn; // by slot: the run whose operation is in flight, or IDLE
    private final AtomicReference<@Nullable Throwable> failure = new AtomicReference<>();
    private int runs;
    private volatile int run = IDLE; // the number of the one under way
    private volatile boolean stopping;
    private volatile CountDownLatch ended = new CountDownLatch(0);
    private int unended; // the most at a time

    SlotLoop(Workload workload, Slots slots) {
        this.workload = workload;
        this.slots = slots;
        this.counts = new long[workload.depth() * STRIDE];
        this.begunIn = new AtomicIntegerArray(workload.depth());
    }

    /** Begins an operation; {@link #completed} or {@link #failed} is to be called once, on any thread. */
    abstract void begin(int slot, long offset);

    /** Starts the chains. */
    void beginAll() {
        for (int slot = 0; slot < workload.depth(); slot++) {
            if (begunIn.get(slot) == run) {
                begin(slot, slots.next(slot));
            }
        }
    }

    final void completed(int slot, int bytes) {
        if (bytes != workload.blockBytes()) {
            failed(new IOException(name() + ": " + bytes + " bytes instead of " + workload.blockBytes()));
            return;
        }
        if (begunIn.get(slot) != run) {
            begunIn.set(slot, IDLE); // of an earlier run, which did not wait so long
            return;
        }
        counts[slot * STRIDE]++;
        if (stopping) {
            begunIn.set(slot, IDLE);
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
        stopping = false;
        run = ++runs;
        ended = new CountDownLatch(takeIdle());
        long before = count();
        long cpu = Measure.processCpuNanos();
        long start = System.nanoTime();
        beginAll();
        letRun(nanos);
        stopping = true;
        Measure untilStop = since(before, start, cpu);
        boolean all = awaitEnd(ended);
        Measure untilEnd = since(before, start, cpu);
        Throwable cause = failure.get();
        if (cause != null) {
            throw new IOException(name() + " failed", cause);
        }
        if (!all) {
            leaveOut();
        }
        return all ? untilEnd : untilStop;
    }

    /** Waits while the chains go on. */
    void letRun(long nanos) throws InterruptedException {
        TimeUnit.NANOSECONDS.sleep(nanos);
    }

    private int takeIdle() {
        int taken = 0;
        for (int slot = 0; slot < workload.depth(); slot++) {
            taken += begunIn.compareAndSet(slot, IDLE, run) ? 1 : 0;
        }
        return taken;
    }

    private Measure since(long count, long start, long cpu) {
        return new Measure(count() - count, System.nanoTime() - start, Measure.processCpuNanos() - cpu);
    }

    /** Waits for what is in flight; returns false if that takes too long. */
    boolean awaitEnd(CountDownLatch all) throws InterruptedException {
        return all.await(PATIENCE_SECONDS, TimeUnit.SECONDS);
    }

    private void leaveOut() throws IOException {
        int left = 0;
        for (int slot = 0; slot < workload.depth(); slot++) {
            if (begunIn.get(slot) != IDLE) {
                slots.forget(slot);
                left++;
            }
        }
        unended = Math.max(unended, left);
        System.err.println(name() + ": " + left + " operations have not ended after " + PATIENCE_SECONDS + " s");
        printWhatRuns();
        if (left == workload.depth()) {
            throw new IOException("none of its operations ends");
        }
    }

    /** Tells whether they hang in the kernel, or nobody works on them any more. */
    private static void printWhatRuns() {
        Thread.getAllStackTraces().forEach((thread, frames) -> {
            if (thread.getState() == Thread.State.RUNNABLE && frames.length > 0) {
                System.err.println("  " + thread.getName() + ": "
                        + Stream.of(frames).limit(FRAMES).map(String::valueOf).collect(Collectors.joining(" < ")));
            }
        });
    }

    @Override
    public String remark() {
        return unended == 0 ? "" : unended + " of " + workload.depth() + " operations did not end";
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
