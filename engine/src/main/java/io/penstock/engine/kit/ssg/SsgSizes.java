// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.kit.ssg;

import io.penstock.CommonOptions;
import io.penstock.Option;
import io.penstock.Options;

/**
 * The segment size, the ring size and the depth of the extension's path.
 *
 * @param segmentBytes the most bytes of one request, and the bytes of a buffer of the ring; whole pages
 * @param ringBytes the bytes of the ring; 0 for none
 * @param depth the most requests in flight
 * @param limit the option that limits {@code segmentBytes}
 */
public record SsgSizes(long segmentBytes, long ringBytes, int depth, Option<Long> limit) {

    /** The granularity of buffers that the disk reaches. */
    public static final long PAGE_BYTES = 4096;

    /** Returns the sizes that options set, with a ring of {@code ringBytes}. */
    public static SsgSizes of(Options options, Option<Long> segment, long ringBytes) {
        long bytes = Math.max(PAGE_BYTES, options.get(segment) & -PAGE_BYTES);
        return new SsgSizes(bytes, ringBytes, options.get(CommonOptions.QUEUE_DEPTH), segment);
    }

    /** Returns a length rounded up to whole pages, at least one. */
    public static long wholePages(long bytes) {
        return (Math.max(bytes, 1) + PAGE_BYTES - 1) & -PAGE_BYTES;
    }
}
