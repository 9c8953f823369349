// SPDX-License-Identifier: Apache-2.0
package io.penstock.renderer.volume;

import io.penstock.renderer.picture.Picture;

/** Composes one picture of a volume, slab by slab, in place: in the memory of a device. */
public interface DeviceComposition extends SlabOrder, AutoCloseable {

    /**
     * Enqueues the device's work on the next slab; the work may still run when this returns.
     *
     * @param slab which slices
     * @param place of the slab's first byte in the device's memory
     */
    void visit(SlabPlan.Range slab, DevicePlace place);

    /** Waits for the device and returns the picture, once every slab was visited. */
    Picture finish();

    /** Frees its resources on the device. */
    @Override
    void close();
}
