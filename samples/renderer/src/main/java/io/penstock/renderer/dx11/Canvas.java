// SPDX-License-Identifier: Apache-2.0
package io.penstock.renderer.dx11;

import io.penstock.renderer.dx11.ffi.Layouts;
import io.penstock.renderer.dx11.ffi.Method;
import java.util.Arrays;

/**
 * The target of a projection, and the texture with the slab that it is drawn from.
 *
 * @param slab the texture of three dimensions that slabs are read into
 * @param target the texture that is drawn to
 */
record Canvas(Painter painter, long slab, long slabView, long target, long targetView) {

    private static final int BIND_SHADER_RESOURCE = 8;
    private static final int BIND_RENDER_TARGET = 0x20;
    private static final int STAGING = 3;
    private static final int CPU_ACCESS_READ = 0x20000;

    /**
     * Creates a canvas whose values are all below any voxel.
     *
     * @param size of the slab: columns, rows, slices
     * @param format of its texels
     */
    static Canvas of(Painter painter, int[] size, int format, int[] target) {
        long device = painter.device();
        int[] slab = {size[0], size[1], size[2], 1, format, 0, BIND_SHADER_RESOURCE, 0, 0};
        long texture = painter.keep(Method.CREATE_TEXTURE_3D.make(device, slab, 0L));
        long drawn = painter.keep(Method.CREATE_TEXTURE_2D.make(device, flat(target, 0, BIND_RENDER_TARGET, 0), 0L));
        Canvas canvas = new Canvas(
                painter,
                texture,
                painter.keep(Method.CREATE_SHADER_RESOURCE_VIEW.make(device, texture, 0L)),
                drawn,
                painter.keep(Method.CREATE_RENDER_TARGET_VIEW.make(device, drawn, 0L)));
        float[] lowest = new float[4];
        Arrays.fill(lowest, Float.NEGATIVE_INFINITY);
        Method.CLEAR_RENDER_TARGET_VIEW.call(painter.context(), canvas.targetView, lowest);
        return canvas;
    }

    private static int[] flat(int[] size, int usage, int bind, int access) {
        return new int[] {size[0], size[1], 1, 1, Painter.R32_FLOAT, 1, 0, usage, bind, access, 0};
    }

    /** Waits for the drawing and returns its values. */
    float[] values(int[] size) {
        float[] values = new float[size[0] * size[1]];
        long staging = Method.CREATE_TEXTURE_2D.make(painter.device(), flat(size, STAGING, 0, CPU_ACCESS_READ), 0L);
        try {
            Method.COPY_RESOURCE.call(painter.context(), staging, target);
            Layouts.read(painter.context(), staging, values, size[0]);
        } finally {
            Method.RELEASE.call(staging);
        }
        return values;
    }

    void close() {
        painter.drop(targetView);
        painter.drop(target);
        painter.drop(slabView);
        painter.drop(slab);
    }
}
