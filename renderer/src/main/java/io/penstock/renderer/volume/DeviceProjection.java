// SPDX-License-Identifier: Apache-2.0
package io.penstock.renderer.volume;

import io.penstock.renderer.picture.Picture;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/** {@link MaximumProjection} on a device: the same picture, since maxima are exact. */
public final class DeviceProjection implements DeviceComposition {

    private final NiftiHeader header;
    private final Display display;
    private final Kernels kernels;
    private final int along;
    private final int width;
    private final int height;
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
        this.header = header;
        this.display = display;
        this.kernels = kernels;
        this.along = header.orientation().fileAxis(world);
        this.width = along == 0 ? header.rows() : header.columns();
        this.height = along == 2 ? header.rows() : header.slices();
        MaximumProjection.check(width, height);
        ByteBuffer settings = DeviceFrame.of(header);
        frame = kernels.allocate(settings.remaining());
        kernels.put(settings, frame);
        maxima = kernels.allocate((long) width * height * Float.BYTES);
    }

    @Override
    public boolean descending() {
        return false;
    }

    @Override
    public long heldBytes(int slices) {
        return 0;
    }

    @Override
    public void visit(SlabPlan.Range slab, DevicePlace place) {
        int slices = slab.to() - slab.from();
        long columns = header.columns();
        long slice = columns * header.rows();
        if (along == 2) {
            max(place, slice, columns, 0, columns, 1, slices, slice, begun);
        } else {
            long first = (long) slab.from() * width;
            boolean acrossRows = along == 1;
            long step = acrossRows ? 1 : columns;
            long length = acrossRows ? header.rows() : columns;
            max(place, (long) slices * width, width, first, slice, step, length, acrossRows ? columns : 1, false);
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
        kernels.show(
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
        float[] values = new float[width * height];
        ByteBuffer bytes =
                ByteBuffer.allocateDirect(values.length * Float.BYTES).order(ByteOrder.nativeOrder());
        kernels.get(maxima, bytes);
        bytes.rewind().asFloatBuffer().get(values);
        return ProjectionView.of(header, along, display, values);
    }

    @Override
    public void close() {
        kernels.free(maxima);
        kernels.free(frame);
    }
}
