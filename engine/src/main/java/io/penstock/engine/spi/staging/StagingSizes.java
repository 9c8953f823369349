// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.spi.staging;

import io.penstock.CommonOptions;
import io.penstock.Options;
import io.penstock.engine.spi.Limits;

/**
 * The sizes of staging buffers, and the numbers of buffers, workers and requests of one queue.
 *
 * @param bufferBytes the most bytes of a request, a multiple of 4096
 * @param buffersPerWorker the staging buffers that one staging worker keeps in use
 * @param workers the staging workers of the process; 0 derives it from the numbers of processors and queues
 * @param depth the most requests queued at once
 * @param spinNanos how long its threads poll before they sleep
 */
public record StagingSizes(long bufferBytes, int buffersPerWorker, int workers, int depth, long spinNanos) {

    static final long BLOCK_BYTES = 4096;

    /**
     * The space of a staging buffer beyond its request. The blocks that enclose an unaligned range extend one block
     * further at each end; a packed pair is read up to one block ahead of its place.
     */
    private static final long SLACK_BYTES = 4 * BLOCK_BYTES;

    /**
     * The default limit, since more staging workers gain one device nothing: 12 fill its link, 16 PCIe gen5 lanes. On
     * some hosts 10 do, with less processor time; on slower ones they do not (docs/results/h200.md).
     */
    static final int MOST_WORKERS_PER_QUEUE = 12;

    /** Creates sizes for threads that sleep at once. */
    public StagingSizes(long bufferBytes, int buffersPerWorker, int workers, int depth) {
        this(bufferBytes, buffersPerWorker, workers, depth, 0);
    }

    public StagingSizes {
        if (bufferBytes < BLOCK_BYTES || bufferBytes % BLOCK_BYTES != 0) {
            throw new IllegalArgumentException(
                    "bufferBytes must be a multiple of " + BLOCK_BYTES + ", was " + bufferBytes);
        }
        if (buffersPerWorker < 1 || workers < 0 || depth < 1) {
            throw new IllegalArgumentException(
                    "buffersPerWorker and depth must be at least 1, and staging workers at least 0, were "
                            + buffersPerWorker + ", " + depth + " and " + workers);
        }
    }

    /** Returns the sizes that options set. */
    public static StagingSizes of(Options options) {
        return new StagingSizes(
                options.get(StagingOptions.BUFFER_BYTES),
                options.get(StagingOptions.BUFFERS_PER_WORKER),
                options.get(StagingOptions.WORKERS),
                options.get(CommonOptions.QUEUE_DEPTH),
                1000L * options.get(StagingOptions.SPIN_MICROS));
    }

    /** Returns the limits of a file: a request and its enclosing blocks fit a staging buffer, wherever it starts. */
    Limits limits(long blockBytes, boolean writable) {
        long fits = Math.min(bufferBytes, allocatedBytes() - 3 * blockBytes);
        long whole = fits - fits % blockBytes;
        return new Limits(writable ? blockBytes : 1, 1, whole, whole, true);
    }

    long allocatedBytes() {
        return bufferBytes + SLACK_BYTES;
    }

    int stagingBuffers(int workersAtHand) {
        return buffersPerWorker * (workers != 0 ? workersAtHand : Math.min(workersAtHand, MOST_WORKERS_PER_QUEUE));
    }
}
