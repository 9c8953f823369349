// SPDX-License-Identifier: Apache-2.0
package io.penstock.renderer.volume;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/** Lays out the description of a volume and a view for the kernels of {@code compose.cu}: their struct Frame. */
final class DeviceFrame {

    private static final int BYTES = 256;

    private final ByteBuffer frame = ByteBuffer.allocateDirect(BYTES).order(ByteOrder.nativeOrder());

    private DeviceFrame(NiftiHeader header) {
        ints(header.columns(), header.rows(), header.slices(), type(header.type()));
        ints(header.order() == ByteOrder.BIG_ENDIAN ? 1 : 0, header.falling() ? 1 : 0);
    }

    /** Returns the frame of a projection. */
    static ByteBuffer of(NiftiHeader header) {
        return new DeviceFrame(header).frame.rewind();
    }

    /**
     * Returns the frame for rays.
     *
     * @param ring the number of slices that fit into the window
     */
    static ByteBuffer of(Scene scene, Rays rays, int ring) {
        NiftiHeader header = scene.header();
        DeviceFrame to = new DeviceFrame(header);
        CodeScale scale = scene.terrain().scale();
        to.floats(scale.lowest(), scale.perUnit(), scale.codes() - 1);
        int width = header.columns() + 2 * CoarseMap.PAD;
        to.ints(scene.terrain().outside(), width, width * (header.rows() + 2 * CoarseMap.PAD), ring);
        CoarseMap map = scene.terrain().map();
        to.ints(map.shift(), map.columns(), map.rows(), map.layers());
        to.floats(rays.stepX, rays.stepY, rays.stepZ);
        to.floats(1 / rays.stepX, 1 / rays.stepY, 1 / rays.stepZ);
        Light light = new Light(rays);
        to.floats(light.key()).floats(light.viewer()).floats(light.half()).floats(light.hazePerSample());
        to.floats(scene.tissue().settings());
        to.floats(Lights.Samples.perSpacing(scene)).floats(Lights.Samples.foldReach(scene));
        return to.frame.rewind();
    }

    private static int type(VoxelType type) {
        return switch (type) {
            case UINT8 -> 0;
            case INT16 -> 1;
            case FLOAT32 -> 2;
            case INT8 -> 3;
            case UINT16 -> 4;
        };
    }

    private void ints(int... values) {
        for (int value : values) {
            frame.putInt(value);
        }
    }

    private DeviceFrame floats(float... values) {
        for (float value : values) {
            frame.putFloat(value);
        }
        return this;
    }
}
