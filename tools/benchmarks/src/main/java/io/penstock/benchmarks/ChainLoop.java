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
 * A contender driven by callbacks: chains of operations, each operation starting the next. A chain whose operation does
 * not complete is excluded from later runs until it does; the report contains the number of such chains.
 */
abstract class ChainLoop implements Contender {

    private static final int PATIENCE_SECONDS = 10;
    private static final int STRIDE = 16; // counts of different chains are on different cache lines
    private static final int IDLE = 0;
    private static final int FRAMES = 6;

    final Workload workload;
    final Chains chains;
    private final long[] counts;
    private final AtomicIntegerArray begunIn; // by chain: the run whose operation is in flight, or IDLE
    private final AtomicReference<@Nullable Throwable> failure = new AtomicReference<>();
    private int runs;
    private volatile int run = IDLE; // the number of the current run
    private volatile boolean stopping;
    private volatile CountDownLatch ended = new CountDownLatch(0);
    private int unended; // the most at a time
    private @Nullable Stopwatch stopwatch; // written before a run is, read after it

    ChainLoop(Workload workload, Chains chains) {
        this.workload = workload;
        this.chains = chains;
        this.counts = new long[workload.depth() * STRIDE];
        this.begunIn = new AtomicIntegerArray(workload.depth());
    }

    /** Starts an operation; {@link #completed} or {@link #failed} must be called once, on any thread. */
    abstract void begin(int chain, long offset);

    /** Starts the chains. */
    void beginAll() {
        for (int chain = 0; chain < workload.depth(); chain++) {
            if (begunIn.get(chain) == run) {
                beginNext(chain);
            }
        }
    }

    private void beginNext(int chain) {
        Stopwatch timing = stopwatch;
        if (timing != null) {
            timing.begin(chain);
        }
        begin(chain, chains.next(chain));
    }

    final void completed(int chain, int bytes) {
        if (bytes != workload.blockBytes()) {
            failed(new IOException(bytes + " bytes instead of " + workload.blockBytes()));
            return;
        }
        if (begunIn.get(chain) != run) {
            begunIn.set(chain, IDLE); // of an earlier run, which stopped waiting
            return;
        }
        Stopwatch timing = stopwatch;
        if (timing != null) {
            timing.end(chain);
        }
        counts[chain * STRIDE]++;
        if (stopping) {
            begunIn.set(chain, IDLE);
            ended.countDown();
        } else {
            beginNext(chain);
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
            throw new IOException("it failed", cause);
        }
        if (!all) {
            leaveOut();
        }
        return all ? untilEnd : untilStop;
    }

    /** Waits while the chains run. */
    void letRun(long nanos) throws InterruptedException {
        TimeUnit.NANOSECONDS.sleep(nanos);
    }

    @Override
    public Latency latency(long nanos) throws Exception {
        Stopwatch timing = new Stopwatch(workload.depth());
        stopwatch = timing;
        run(nanos);
        stopwatch = null;
        return timing.latency();
    }

    private int takeIdle() {
        int taken = 0;
        for (int chain = 0; chain < workload.depth(); chain++) {
            taken += begunIn.compareAndSet(chain, IDLE, run) ? 1 : 0;
        }
        return taken;
    }

    private Measure since(long count, long start, long cpu) {
        return new Measure(count() - count, System.nanoTime() - start, Measure.processCpuNanos() - cpu);
    }

    /** Waits for operations in flight; returns false on timeout. */
    boolean awaitEnd(CountDownLatch all) throws InterruptedException {
        return all.await(PATIENCE_SECONDS, TimeUnit.SECONDS);
    }

    private void leaveOut() throws IOException {
        int left = 0;
        for (int chain = 0; chain < workload.depth(); chain++) {
            if (begunIn.get(chain) != IDLE) {
                chains.forget(chain);
                left++;
            }
        }
        unended = Math.max(unended, left);
        System.err.println(left + " operations have not ended after " + PATIENCE_SECONDS + " s");
        printWhatRuns();
        if (left == workload.depth()) {
            throw new IOException("none of its operations completes");
        }
    }

    /** Prints whether they hang in the kernel, or no thread works on them any more. */
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
        for (int chain = 0; chain < workload.depth(); chain++) {
            sum += counts[chain * STRIDE];
        }
        return sum;
    }

    @Override
    public void verify() throws IOException {
        chains.verify();
    }
}
