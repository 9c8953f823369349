// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.cufile.paths;

import io.penstock.CommonOptions;
import io.penstock.Options;
import io.penstock.backend.cufile.CufileOptions;

/**
 * The sizes of one cuFile queue.
 *
 * @param depth requests queued or in flight
 * @param threads calls that may block at once
 * @param streams CUDA streams
 * @param segmentBytes the bytes of one request, where a transfer is larger
 */
public record CuFileSizes(int depth, int threads, int streams, long segmentBytes) {

    private static final int MOST_THREADS = 16;

    public static CuFileSizes of(Options options) {
        int threads = options.get(CufileOptions.THREADS);
        int processors = Runtime.getRuntime().availableProcessors();
        return new CuFileSizes(
                options.get(CommonOptions.QUEUE_DEPTH),
                threads != 0 ? threads : Math.min(MOST_THREADS, 2 * processors),
                options.get(CufileOptions.STREAMS),
                options.get(CufileOptions.SEGMENT_BYTES));
    }
}
