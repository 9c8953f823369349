// SPDX-License-Identifier: Apache-2.0
package io.penstock.renderer.volume;

import io.penstock.renderer.picture.Picture;

/** {@link MaximumProjection} on a device: the same picture, since maxima are exact. */
public final class DeviceProjection implements DeviceComposition {

    private final ProjectionPlane plane;
    private final DeviceMemory memory;
    private final long frame;
    private final long maxima;
    private boolean begun;

    /**
     * Prepares a projection.
     *
     * @param world 0 to look from the left, 1 from the front, 2 from above
     * @throws BadVolumeException if the projection would be absurdly large
     */
    public DeviceProjection(NiftiHeader header, int world, Display display, Kernels kernels) throws BadVolumeException {
        this.plane = ProjectionPlane.of(header, world, display);
        this.memory = new DeviceMemory(kernels);
        frame = memory.put(DeviceFrame.of(header));
        maxima = memory.allocate(bytes());
    }

    private long bytes() {
        return (long) plane.width() * plane.height() * Float.BYTES;
    }

    @Override
    public long heldBytes(int slices) {
        return 0;
    }

    @Override
    public void visit(SlabPlan.Range slab, DevicePlace place) {
        NiftiHeader header = plane.header();
        int slices = slab.to() - slab.from();
        long width = plane.width();
        long columns = header.columns();
        long slice = columns * header.rows();
        if (plane.along() == 2) {
            max(place, slice, columns, 0, columns, 1, slices, slice, begun);
        } else {
            long first = slab.from() * width;
            boolean acrossRows = plane.along() == 1;
            long step = acrossRows ? 1 : columns;
            long length = acrossRows ? header.rows() : columns;
            max(place, slices * width, width, first, slice, step, length, acrossRows ? columns : 1, false);
        }
        begun = true;
    }

    private void max(
            DevicePlace slab,
            long lines,
            long columns,
            long first,
            long across,
            long next,
            long length,
            long stride,
            boolean keep) {
        memory.kernels()
                .show(
                        slab,
                        "maxima",
                        lines,
                        frame,
                        maxima,
                        lines,
                        columns,
                        first,
                        across,
                        next,
                        length,
                        stride,
                        keep ? 1 : 0);
    }

    @Override
    public Picture finish() {
        float[] values = new float[plane.width() * plane.height()];
        memory.get(maxima, bytes()).asFloatBuffer().get(values);
        return plane.picture(values);
    }

    @Override
    public void close() {
        memory.close();
    }
}
