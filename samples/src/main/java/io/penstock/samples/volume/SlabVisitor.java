// SPDX-License-Identifier: Apache-2.0
package io.penstock.samples.volume;

/** Looks at a volume slab by slab, each slice once; what it finds does not depend on how the volume is cut. */
public interface SlabVisitor {

    /** Returns whether it wants the slabs from the last slice to the first. */
    default boolean descending() {
        return false;
    }

    /** Returns the bytes of voxels that it keeps of its own when slabs have {@code slices} slices. */
    long heldBytes(int slices);

    /**
     * Looks at the next slab.
     *
     * <p><b>Threading:</b> one call at a time; it spreads its work over the common pool.
     */
    void visit(Slab slab);
}
