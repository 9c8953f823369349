// SPDX-License-Identifier: Apache-2.0
package io.penstock.benchmarks;

import org.HdrHistogram.ConcurrentHistogram;
import org.HdrHistogram.Histogram;

/**
 * Times operations from their start to their completion, one at a time in each chain.
 *
 * <p><b>Threading:</b> chains are independent; the end of an operation must happen after its beginning.
 */
final class Stopwatch {

    private static final int STRIDE = 8; // different chains are on different cache lines
    private static final int DIGITS = 3;
    private static final double MICRO = 1e3;

    private final long[] begun;
    private final Histogram nanos = new ConcurrentHistogram(DIGITS);

    Stopwatch(int chains) {
        begun = new long[chains * STRIDE];
    }

    void begin(int chain) {
        begun[chain * STRIDE] = System.nanoTime();
    }

    void end(int chain) {
        nanos.recordValue(Math.max(0, System.nanoTime() - begun[chain * STRIDE]));
    }

    /** Takes {@code count} operations that return their nanoseconds, one after another. */
    static Latency ofEach(int count, Measure.Work once) throws Exception {
        Stopwatch watch = new Stopwatch(1);
        for (int i = 0; i < count; i++) {
            watch.nanos.recordValue(Math.max(0, once.run()));
        }
        return watch.latency();
    }

    /** Returns what all operations took, none in flight. */
    Latency latency() {
        return new Latency(at(50), at(99), at(99.9));
    }

    private double at(double percentile) {
        return nanos.getValueAtPercentile(percentile) / MICRO;
    }
}
