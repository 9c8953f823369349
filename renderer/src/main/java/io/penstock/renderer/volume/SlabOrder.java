// SPDX-License-Identifier: Apache-2.0
package io.penstock.renderer.volume;

/** How somebody wants to see a volume's slabs, and what it keeps of them. */
public interface SlabOrder {

    /** Returns whether it wants the slabs from the last slice to the first. */
    default boolean descending() {
        return false;
    }

    /** Returns how many slices it takes at a time, at most. */
    default int mostSlices() {
        return Integer.MAX_VALUE;
    }

    /** Returns the bytes of voxels that it keeps of its own when slabs have {@code slices} slices. */
    long heldBytes(int slices);
}
