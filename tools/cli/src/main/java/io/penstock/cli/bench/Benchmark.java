// SPDX-License-Identifier: Apache-2.0
package io.penstock.cli.bench;

import com.sun.management.OperatingSystemMXBean;
import io.penstock.Backend;
import io.penstock.TransferPath;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.HdrHistogram.Histogram;

/**
 * The same workload on one or several devices at the same time.
 *
 * <p><b>Threading:</b> used by one thread, which blocks for as long as a run takes.
 *
 * <p><b>Ownership:</b> the caller of {@link #open} closes it, and after it the backends.
 */
public final class Benchmark implements AutoCloseable {

    private static final OperatingSystemMXBean SYSTEM =
            (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
    private static final int DIGITS = 3;
    private static final long SHOW_MILLIS = 100;

    /** Receives the state of a run ten times a second. */
    public interface Listener {

        /**
         * Called on the thread of {@link Benchmark#run}.
         *
         * @param bytes that all jobs have moved so far
         * @param nanos since the start of the run
         */
        void running(long bytes, long nanos);
    }

    private final Workload work;
    private final List<Job> jobs = new ArrayList<>();
    private final BlockContents contents = new BlockContents();

    private Benchmark(Workload work) {
        this.work = work;
    }

    /**
     * Opens the file on each backend and fills the memory of its blocks.
     *
     * @throws IOException if the path that the workload demands would not be taken; the message states why
     */
    public static Benchmark open(Workload work, List<Backend> backends) throws IOException {
        Benchmark benchmark = new Benchmark(work);
        try {
            for (Backend backend : backends) {
                Job job = new Job(backend, work);
                benchmark.jobs.add(job);
                benchmark.contents.fill(job);
            }
            return benchmark;
        } catch (IOException | RuntimeException | Error e) {
            benchmark.close();
            throw e;
        }
    }

    /** Returns the path that transfers are expected to take. */
    public TransferPath path() {
        return jobs.get(0).path();
    }

    /**
     * Runs for a time, and then until the transfers in flight have completed.
     *
     * @throws IOException if a transfer fails or is short, which ends the run at once
     */
    public Figures run(long nanos, Listener listener) throws IOException, InterruptedException {
        long cpu = SYSTEM.getProcessCpuTime();
        long begin = System.nanoTime();
        jobs.forEach(Job::start);
        try {
            for (long left = nanos; left > 0; left = nanos - (System.nanoTime() - begin)) {
                // Only a failure ends a run before its time.
                jobs.get(0).await(Math.min(SHOW_MILLIS, Math.max(1, TimeUnit.NANOSECONDS.toMillis(left))));
                for (Job job : jobs) {
                    job.await(0);
                }
                listener.running(jobs.stream().mapToLong(Job::bytes).sum(), System.nanoTime() - begin);
            }
        } finally {
            jobs.forEach(Job::end);
        }
        for (Job job : jobs) {
            job.await(Long.MAX_VALUE);
        }
        long took = System.nanoTime() - begin;
        return figures(took, SYSTEM.getProcessCpuTime() - cpu);
    }

    private Figures figures(long nanos, long cpuNanos) {
        Histogram latencies = new Histogram(DIGITS);
        Set<TransferPath> paths = EnumSet.noneOf(TransferPath.class);
        Map<String, Long> devices = new LinkedHashMap<>();
        for (Job job : jobs) {
            latencies.add(job.latencies());
            paths.addAll(job.paths());
            devices.put(devices.size() + ": " + job.device(), job.bytes());
        }
        return new Figures(work, nanos, cpuNanos, latencies, paths, jobs.get(0).lastCompletion(), devices);
    }

    /** Makes what was written durable, and returns the nanoseconds which that took; 0 for reads. */
    public long sync() {
        long begin = System.nanoTime();
        jobs.forEach(Job::sync);
        return work.pattern().writes() ? System.nanoTime() - begin : 0;
    }

    /**
     * Compares the last block of each slot with the file, which the JDK reads.
     *
     * @return the number of blocks compared
     * @throws IOException if one differs
     */
    public int verify() throws IOException {
        int blocks = 0;
        for (Job job : jobs) {
            blocks += contents.verify(job);
        }
        return blocks;
    }

    @Override
    public void close() {
        jobs.forEach(Job::close);
    }
}
