// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.cufile.routes;

import io.penstock.CommonOptions;
import io.penstock.Options;
import io.penstock.backend.cufile.CufileOptions;

/**
 * How much one queue of cuFile's does at once.
 *
 * @param depth requests queued or in flight
 * @param threads calls that block at once
 * @param streams CUDA streams
 * @param pieceBytes what one request moves where there is more
 */
public record CuFileSizes(int depth, int threads, int streams, long pieceBytes) {

    private static final int MOST_THREADS = 16;

    public static CuFileSizes of(Options options) {
        int threads = options.get(CufileOptions.THREADS);
        int processors = Runtime.getRuntime().availableProcessors();
        return new CuFileSizes(
                options.get(CommonOptions.LANE_DEPTH),
                threads != 0 ? threads : Math.min(MOST_THREADS, 2 * processors),
                options.get(CufileOptions.STREAMS),
                options.get(CufileOptions.PIECE_BYTES));
    }
}
