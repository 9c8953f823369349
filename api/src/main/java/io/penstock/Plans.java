// SPDX-License-Identifier: Apache-2.0
package io.penstock;

/** Checks the numbers of {@link StreamPlan} and {@link WritePlan}. */
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
}
