// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.dx11;

import io.penstock.CommonOptions;
import io.penstock.Options;

/**
 * How AMD's path cuts, and how much of it there is at a time.
 *
 * @param pieceBytes the most bytes of one request, whole pages
 * @param regionBytes the most bytes of one region, whole pages
 * @param regions the most regions of one call
 * @param waiters the most calls in flight, each of which has a thread that waits for it
 * @param asynchronous whether calls have events
 * @param depth the most requests in flight
 */
record SsgSizes(long pieceBytes, long regionBytes, int regions, int waiters, boolean asynchronous, int depth) {

    private static final long PAGE_BYTES = 4096;
    private static final int USUAL_REGIONS = 64;

    static SsgSizes of(Options options) {
        long piece = Math.max(PAGE_BYTES, options.get(CommonOptions.PIECE_BYTES) & -PAGE_BYTES);
        long region = options.get(Dx11Options.SSG_REGION_BYTES) & -PAGE_BYTES;
        return new SsgSizes(
                piece,
                region,
                (int) Math.max(USUAL_REGIONS, (piece + region - 1) / region),
                options.get(Dx11Options.SSG_WAITERS),
                options.get(Dx11Options.SSG_ASYNCHRONOUS),
                options.get(CommonOptions.LANE_DEPTH));
    }

    /** Returns the bytes of a region of a task: whole blocks of its file. */
    long regionBytes(SsgTask task) {
        long block = task.file().blockBytes();
        return Math.max(block, regionBytes & -block);
    }

    /** Returns into how many regions a task is cut. */
    int regionsOf(SsgTask task) {
        long most = regionBytes(task);
        return (int) ((task.wholeBlocks() + most - 1) / most);
    }
}
