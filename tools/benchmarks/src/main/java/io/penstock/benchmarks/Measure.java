// SPDX-License-Identifier: Apache-2.0
package io.penstock.benchmarks;

import com.sun.management.OperatingSystemMXBean;
import java.lang.management.ManagementFactory;
import java.util.Arrays;
import java.util.function.LongSupplier;

/**
 * The work of a contender in one run.
 *
 * @param operations how many reads or writes
 * @param nanos how long it took
 * @param cpuNanos processor time of the whole process, kernel and its workers included
 */
record Measure(long operations, long nanos, long cpuNanos) {

    private static final OperatingSystemMXBean SYSTEM =
            (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();

    /** Returns the processor time that this process has used so far. */
    static long processCpuNanos() {
        return SYSTEM.getProcessCpuTime();
    }

    /** Work to be measured. */
    interface Work {

        /** Runs and returns the number of operations, or the nanoseconds of one. */
        long run() throws Exception;
    }

    /** Measures work in this process. */
    static Measure of(Work work) throws Exception {
        return of(work, Measure::processCpuNanos);
    }

    /** Measures work in this process by a given count of its processor time. */
    static Measure of(Work work, LongSupplier cpuNanos) throws Exception {
        long cpu = cpuNanos.getAsLong();
        long begin = System.nanoTime();
        long operations = work.run();
        return new Measure(operations, System.nanoTime() - begin, cpuNanos.getAsLong() - cpu);
    }

    /** Measures operations that return their nanoseconds, one at a time: the median represents all. */
    static Measure ofMedian(int count, Work once) throws Exception {
        return ofMedian(count, once, Measure::processCpuNanos);
    }

    /** Like {@link #ofMedian(int, Work)}, by a given count of this process' processor time. */
    static Measure ofMedian(int count, Work once, LongSupplier cpuNanos) throws Exception {
        long[] each = new long[count];
        long cpu = cpuNanos.getAsLong();
        for (int i = 0; i < count; i++) {
            each[i] = once.run();
        }
        cpu = cpuNanos.getAsLong() - cpu;
        Arrays.sort(each);
        // The device's clock and the processor's may differ by more than the measured time.
        return new Measure(1, Math.max(1, each[count / 2]), cpu / count);
    }

    double perSecond() {
        return operations * 1e9 / nanos;
    }

    double nanosEach() {
        return (double) nanos / operations;
    }

    double cpuNanosEach() {
        return (double) cpuNanos / operations;
    }

    /** Returns the processor seconds per second of the run. */
    double processors() {
        return (double) cpuNanos / nanos;
    }
}
