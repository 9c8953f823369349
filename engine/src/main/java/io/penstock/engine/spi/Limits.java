// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.spi;

import org.jspecify.annotations.Nullable;

/**
 * What native requests on a file must look like.
 *
 * @param fileAlignment offsets and lengths in the file are multiples of this, a power of two; 1 where anything goes
 * @param memoryAlignment offsets in, or host addresses of, memory are multiples of this, a power of two; 1 where
 *     anything goes
 * @param maxBytes the most bytes that one request may move, a multiple of {@code fileAlignment}
 * @param pieceBytes the bytes that one request should move where there are more, a multiple of {@code fileAlignment}
 * @param packs whether one request may take several small pairs of a gather, whose targets lie side by side
 */
public record Limits(long fileAlignment, long memoryAlignment, long maxBytes, long pieceBytes, boolean packs) {

    /** The cap of one read or write call on Linux: 2 GiB less a page. */
    public static final long LINUX_MAX_BYTES = 0x7ffff000L;

    // Files by the thousand share one: each has it looked at by every transfer. Which of two threads keeps its own does
    // not matter.
    private static volatile @Nullable Limits lastNone;

    public Limits {
        if (Long.bitCount(fileAlignment) != 1 || Long.bitCount(memoryAlignment) != 1) {
            throw new IllegalArgumentException(
                    "alignments must be powers of two, were " + fileAlignment + " and " + memoryAlignment);
        }
        if (pieceBytes < fileAlignment || maxBytes < pieceBytes || pieceBytes % fileAlignment != 0) {
            throw new IllegalArgumentException("pieceBytes must be a multiple of " + fileAlignment
                    + " and at most maxBytes, was " + pieceBytes + " of " + maxBytes);
        }
    }

    /** Returns the limits of a file that takes any offset, length and address. */
    public static Limits none(long pieceBytes) {
        long piece = Math.min(pieceBytes, LINUX_MAX_BYTES);
        Limits last = lastNone;
        if (last == null || last.pieceBytes != piece) {
            last = new Limits(1, 1, LINUX_MAX_BYTES, piece, false);
            lastNone = last;
        }
        return last;
    }

    /** Returns whether requests are bound to blocks. */
    public boolean isBlockGranular() {
        return fileAlignment > 1 || memoryAlignment > 1;
    }
}
