// SPDX-License-Identifier: Apache-2.0
package io.penstock.cli.bench;

import io.penstock.Completion;
import io.penstock.TransferPath;
import java.util.Map;
import java.util.Set;
import org.HdrHistogram.Histogram;

/**
 * What a run measured.
 *
 * @param work what each job did
 * @param nanos from the first transfer's subscription to the last completion
 * @param cpuNanos the processor time of the process, kernel workers included
 * @param latencies of all transfers, in nanoseconds, from subscription to delivery
 * @param paths that transfers took
 * @param last a completion, for how its path is known
 * @param devices the bytes that each device moved
 */
public record Figures(
        Workload work,
        long nanos,
        long cpuNanos,
        Histogram latencies,
        Set<TransferPath> paths,
        Completion last,
        Map<String, Long> devices) {

    /** Returns the number of transfers. */
    public long operations() {
        return latencies.getTotalCount();
    }

    /** Returns the bytes of all transfers. */
    public long bytes() {
        return operations() * work.blockBytes();
    }

    /** Returns transfers per second. */
    public double operationsPerSecond() {
        return operations() * 1e9 / nanos;
    }

    /** Returns bytes per second. */
    public double bytesPerSecond() {
        return bytes() * 1e9 / nanos;
    }

    /** Returns seconds of processor time per GiB moved. */
    public double cpuSecondsPerGib() {
        return cpuNanos / 1e9 / (bytes() / (double) (1 << 30));
    }
}
