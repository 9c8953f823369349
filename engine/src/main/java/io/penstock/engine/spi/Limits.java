// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.spi;

import org.jspecify.annotations.Nullable;

/**
 * The constraints on native requests on a file.
 *
 * @param fileAlignment offsets and lengths in the file are multiples of this, a power of two; 1 if unconstrained
 * @param memoryAlignment offsets in, or host addresses of, memory are multiples of this, a power of two; 1 if
 *     unconstrained
 * @param maxBytes the most bytes that one request may move, a multiple of {@code fileAlignment}
 * @param segmentBytes the bytes that one request should move of a larger transfer, a multiple of {@code fileAlignment}
 * @param packs whether one request may take several small pairs of a gather, whose targets are adjacent
 */
public record Limits(long fileAlignment, long memoryAlignment, long maxBytes, long segmentBytes, boolean packs) {

    /** The cap of one read or write call on Linux: 2 GiB less a page. */
    public static final long LINUX_MAX_BYTES = 0x7ffff000L;

    // Shared by thousands of files, since every transfer reads it. A benign race: either of two threads may store its
    // own.
    private static volatile @Nullable Limits lastNone;

    public Limits {
        if (Long.bitCount(fileAlignment) != 1 || Long.bitCount(memoryAlignment) != 1) {
            throw new IllegalArgumentException(
                    "alignments must be powers of two, were " + fileAlignment + " and " + memoryAlignment);
        }
        if (segmentBytes < fileAlignment || maxBytes < segmentBytes || segmentBytes % fileAlignment != 0) {
            throw new IllegalArgumentException("segmentBytes must be a multiple of " + fileAlignment
                    + " and at most maxBytes, was " + segmentBytes + " of " + maxBytes);
        }
    }

    /** Returns the limits of a file that takes any offset, length and address. */
    public static Limits none(long segmentBytes) {
        long segment = Math.min(segmentBytes, LINUX_MAX_BYTES);
        Limits last = lastNone;
        if (last == null || last.segmentBytes != segment) {
            last = new Limits(1, 1, LINUX_MAX_BYTES, segment, false);
            lastNone = last;
        }
        return last;
    }

    /** Returns the same with segments of at most {@code bytes}, or of one block. */
    public Limits withSegments(long bytes) {
        if (bytes >= segmentBytes) {
            return this;
        }
        long whole = Math.max(fileAlignment, bytes - bytes % fileAlignment);
        return new Limits(fileAlignment, memoryAlignment, maxBytes, whole, packs);
    }

    /** Returns whether requests must be aligned to blocks. */
    public boolean isBlockGranular() {
        return fileAlignment > 1 || memoryAlignment > 1;
    }
}
