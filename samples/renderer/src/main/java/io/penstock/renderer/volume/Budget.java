// SPDX-License-Identifier: Apache-2.0
package io.penstock.renderer.volume;

/**
 * How much of a volume may be in memory at a time, and in how many pieces.
 *
 * @param bytes of voxels in memory, including what the view keeps of slabs that it has seen
 * @param chunkBytes the most bytes of a slab; one slice is the least
 * @param depth slabs in memory at a time, at least 2: one is composed while the others are read. Fewer if they do not
 *     fit
 */
public record Budget(long bytes, long chunkBytes, int depth) {

    /** One slab is composed while the next is read. */
    static final int LEAST_DEPTH = 2;

    private static final int DEPTH = 4;
    private static final int MOST_DEPTH = 64;

    public Budget {
        if (bytes < 1) {
            throw new IllegalArgumentException("budget must be at least 1 byte, was " + bytes);
        }
        if (chunkBytes < 1) {
            throw new IllegalArgumentException("chunk must be at least 1 byte, was " + chunkBytes);
        }
        if (depth < LEAST_DEPTH || depth > MOST_DEPTH) {
            throw new IllegalArgumentException("depth must be " + LEAST_DEPTH + " to " + MOST_DEPTH + ", was " + depth);
        }
    }

    /** Returns a budget of so many bytes, in slabs as thick as they may be. */
    public static Budget of(long bytes) {
        return new Budget(bytes, Long.MAX_VALUE, DEPTH);
    }

    /**
     * Returns the bytes that suffice for every view of a volume, on any backend: more than a volume of a few slices
     * has.
     */
    public static long needed(NiftiHeader header) {
        int copied = 1; // where the processor does not reach the device's memory
        return (LEAST_DEPTH + copied) * header.sliceBytes() + SlabWindow.heldBytes(header, 1);
    }
}
