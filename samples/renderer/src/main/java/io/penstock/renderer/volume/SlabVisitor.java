// SPDX-License-Identifier: Apache-2.0
package io.penstock.renderer.volume;

/** Visits a volume slab by slab, each slice once; the result does not depend on how the volume is cut. */
public interface SlabVisitor extends SlabOrder {

    /**
     * Visits the next slab.
     *
     * <p><b>Threading:</b> one call at a time; it spreads its work over the common pool.
     */
    void visit(Slab slab);
}
