// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.spi.ssg;

import io.penstock.CommonOptions;
import io.penstock.Option;
import io.penstock.Options;

/**
 * How the extension's path splits transfers, and how much memory and how many requests it has.
 *
 * @param pieceBytes the most bytes of one request, and the bytes of a buffer of the ring; whole pages
 * @param ringBytes of the ring; 0 for none
 * @param depth the most requests in flight
 * @param limit the option that limits {@code pieceBytes}
 */
public record SsgSizes(long pieceBytes, long ringBytes, int depth, Option<Long> limit) {

    /** What buffers that the disk reaches are multiples of. */
    public static final long PAGE_BYTES = 4096;

    /** Returns those that options say, with a ring of {@code ringBytes}. */
    public static SsgSizes of(Options options, Option<Long> piece, long ringBytes) {
        long bytes = Math.max(PAGE_BYTES, options.get(piece) & -PAGE_BYTES);
        return new SsgSizes(bytes, ringBytes, options.get(CommonOptions.LANE_DEPTH), piece);
    }

    /** Returns a length, rounded up to whole pages; at least one. */
    public static long wholePages(long bytes) {
        return (Math.max(bytes, 1) + PAGE_BYTES - 1) & -PAGE_BYTES;
    }
}
