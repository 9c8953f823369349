// SPDX-License-Identifier: Apache-2.0
package io.penstock.benchmarks;

import com.sun.management.OperatingSystemMXBean;
import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import java.util.Arrays;
import java.util.function.LongSupplier;
import java.util.stream.LongStream;

/**
 * The work of a contender in one run.
 *
 * @param operations how many reads or writes
 * @param nanos how long it took
 * @param cpuNanos processor time of the whole process, kernel and its workers included
 * @param allocated bytes of heap that the threads of this process have allocated, as far as they still run; 0 if they
 *     were not counted
 */
record Measure(long operations, long nanos, long cpuNanos, long allocated) {

    private static final OperatingSystemMXBean SYSTEM =
            (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
    private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

    Measure(long operations, long nanos, long cpuNanos) {
        this(operations, nanos, cpuNanos, 0);
    }

    private static long heapBytes() {
        return LongStream.of(THREADS.getThreadAllocatedBytes(THREADS.getAllThreadIds()))
                .filter(bytes -> bytes > 0) // of threads that have not ended meanwhile
                .sum();
    }

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
        long allocated = heapBytes();
        long cpu = cpuNanos.getAsLong();
        long begin = System.nanoTime();
        long operations = work.run();
        long nanos = System.nanoTime() - begin;
        return new Measure(operations, nanos, cpuNanos.getAsLong() - cpu, heapBytes() - allocated);
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

    double allocatedEach() {
        return (double) allocated / operations;
    }

    /** Returns the processor seconds per second of the run. */
    double processors() {
        return (double) cpuNanos / nanos;
    }
}
