// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.gl;

import io.penstock.CommonOptions;
import io.penstock.Options;

/**
 * What the extension's path takes and how it cuts.
 *
 * @param pieceBytes the most bytes of one command, and the bytes of a ring slot; whole pages
 * @param ringBytes of the ring
 * @param visibleBytes the most local visible memory that may be in use in this process
 * @param depth the most commands in flight
 */
record SsgSizes(long pieceBytes, long ringBytes, long visibleBytes, int depth) {

    static final long PAGE_BYTES = 4096;

    static SsgSizes of(Options options) {
        return new SsgSizes(
                options.get(GlOptions.SSG_PIECE_BYTES) & -PAGE_BYTES,
                options.get(GlOptions.SSG_RING_BYTES),
                options.get(GlOptions.VISIBLE_BYTES),
                options.get(CommonOptions.LANE_DEPTH));
    }
}
