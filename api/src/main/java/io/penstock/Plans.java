// SPDX-License-Identifier: Apache-2.0
package io.penstock;

import java.util.List;

/** Checks and texts that {@link StreamPlan} and {@link WritePlan} share. */
final class Plans {

    private Plans() {}

    static void checkChunk(long bytes) {
        if (bytes < 1) {
            throw new IllegalArgumentException("chunk size must be at least 1 byte, was " + bytes);
        }
    }

    static void checkDepth(int chunks) {
        if (chunks < 1) {
            throw new IllegalArgumentException("depth must be at least 1 chunk, was " + chunks);
        }
    }

    /** Returns the first region as text, and how many follow. */
    static String show(List<FileRegion> regions) {
        if (regions.isEmpty()) {
            return "no region";
        }
        FileRegion first = regions.get(0);
        String text = first.file().path() + "[" + first.offset() + ", " + first.end() + ")";
        return regions.size() == 1 ? text : text + " and " + (regions.size() - 1) + " more";
    }

    static String show(long chunkBytes, int depth) {
        return " in chunks of " + Bytes.format(chunkBytes) + ", depth " + depth;
    }
}
