// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.gpu.paths;

import io.penstock.CommonOptions;
import io.penstock.Options;
import io.penstock.backend.gpu.api.GpuOptions;

/**
 * The sizes of one queue of the file API.
 *
 * @param depth requests queued or in flight
 * @param threads calls that may block at once
 * @param streams streams
 * @param segmentBytes the bytes of one request, where a transfer is larger
 */
public record QueueSizes(int depth, int threads, int streams, long segmentBytes) {

    private static final int MOST_THREADS = 16;

    public static QueueSizes of(GpuOptions names, Options options) {
        int threads = options.get(names.threads());
        int processors = Runtime.getRuntime().availableProcessors();
        return new QueueSizes(
                options.get(CommonOptions.QUEUE_DEPTH),
                threads != 0 ? threads : Math.min(MOST_THREADS, 2 * processors),
                options.get(names.streams()),
                options.get(names.segmentBytes()));
    }
}
