// SPDX-License-Identifier: Apache-2.0
package io.penstock;

/** What {@link StreamPlan} and {@link WritePlan} ask of their numbers. */
final class Plans {

    private Plans() {}

    static void checkChunk(long bytes) {
        if (bytes < 1) {
            throw new IllegalArgumentException("chunks of " + bytes + " bytes");
        }
    }

    static void checkDepth(int chunks) {
        if (chunks < 1) {
            throw new IllegalArgumentException("a depth of " + chunks + " chunks");
        }
    }
}
