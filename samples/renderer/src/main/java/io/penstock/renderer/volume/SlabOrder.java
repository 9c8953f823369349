// SPDX-License-Identifier: Apache-2.0
package io.penstock.renderer.volume;

/** The order and size of slabs that a visitor requires, and the memory that it keeps. */
public interface SlabOrder {

    /** Returns true if it requires the slabs from the last slice to the first. */
    default boolean descending() {
        return false;
    }

    /** Returns the maximum number of slices per slab. */
    default int mostSlices() {
        return Integer.MAX_VALUE;
    }

    /** Returns the bytes of voxels that it keeps itself when slabs have {@code slices} slices. */
    long heldBytes(int slices);
}
