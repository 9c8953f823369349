// SPDX-License-Identifier: Apache-2.0
package io.penstock.renderer.volume;

import io.penstock.renderer.picture.Picture;

/** Composes one picture of a volume, slab by slab, where the slabs are: in the memory of a device. */
public interface DeviceComposition extends SlabOrder, AutoCloseable {

    /**
     * Orders the device to look at the next slab; what was ordered may still run when this returns.
     *
     * @param slab which slices
     * @param place of the slab's first byte in the device's memory
     */
    void visit(SlabPlan.Range slab, DevicePlace place);

    /** Waits for the device and returns the picture, once every slab was visited. */
    Picture finish();

    /** Frees what it holds on the device. */
    @Override
    void close();
}
