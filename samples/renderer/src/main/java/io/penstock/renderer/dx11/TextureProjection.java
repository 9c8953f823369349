// SPDX-License-Identifier: Apache-2.0
package io.penstock.renderer.dx11;

import io.penstock.ImageRegion;
import io.penstock.renderer.dx11.ffi.Layouts;
import io.penstock.renderer.picture.Picture;
import io.penstock.renderer.volume.NiftiHeader;
import io.penstock.renderer.volume.ProjectionPlane;
import io.penstock.renderer.volume.SlabOrder;
import io.penstock.renderer.volume.SlabPlan;
import io.penstock.renderer.volume.VoxelType;
import java.nio.ByteOrder;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A maximum projection that Direct3D draws: slabs are read into a texture, as they are in the file, and their planes
 * drawn over each other. Maxima are exact, and so is the picture.
 */
public final class TextureProjection implements SlabOrder, AutoCloseable {

    private static final int R8_UNORM = 61;
    private static final int R8G8_UNORM = 49;
    private static final int BIND_CONSTANT_BUFFER = 4;

    /** Of a texture of three dimensions, at feature level 11. */
    private static final int MOST_TEXELS = 2048;

    private final Painter painter;
    private final ProjectionPlane plane;
    private final NiftiHeader header;
    private final long voxel;
    private final Map<Integer, Quads> quads = new HashMap<>(); // by the slices of a slab
    private @Nullable Canvas canvas;

    public TextureProjection(Painter painter, ProjectionPlane plane) {
        this.painter = painter;
        this.plane = plane;
        this.header = plane.header();
        this.voxel = painter.keep(Layouts.buffer(painter.device(), BIND_CONSTANT_BUFFER, voxel(header)));
    }

    /** Returns true if a volume's voxels fit into texels and are read back with the values that the processor uses. */
    public static boolean takes(NiftiHeader header) {
        // On the processor NaN is never the brightest; blending does not guarantee that.
        return header.type() != VoxelType.FLOAT32 && header.columns() <= MOST_TEXELS && header.rows() <= MOST_TEXELS;
    }

    // See projection.hlsl.
    private static float[] voxel(NiftiHeader header) {
        boolean wide = header.type().bytes() == 2;
        boolean bigFirst = wide && header.order() == ByteOrder.BIG_ENDIAN;
        boolean signed = header.type() == VoxelType.INT8 || header.type() == VoxelType.INT16;
        float range = wide ? 0x10000 : 0x100;
        float first = bigFirst ? 256 : 1;
        float second = !wide ? 0 : bigFirst ? 1 : 256;
        float sign = header.falling() ? -1 : 1;
        return new float[] {first, second, 0, 0, signed ? 2 / range : 0, signed ? range : 0, sign, 0};
    }

    /** Returns which texels a slab of a plan is read into. */
    public ImageRegion image(SlabPlan plan, SlabPlan.Range slab) {
        Canvas here = canvas;
        if (here == null) {
            int thickest = (int) (plan.chunkBytes() / header.sliceBytes());
            here = Canvas.of(painter, size(thickest), wide() ? R8G8_UNORM : R8_UNORM, target());
            canvas = here;
        }
        long row = (long) header.columns() * header.type().bytes();
        return new ImageRegion(
                here.slab(),
                0,
                new ImageRegion.Texels(0, 0, 0),
                new ImageRegion.Texels(header.columns(), header.rows(), slab.to() - slab.from()),
                new ImageRegion.Layout(
                        wide() ? R8G8_UNORM : R8_UNORM, header.type().bytes(), row, header.sliceBytes()));
    }

    private boolean wide() {
        return header.type().bytes() == 2;
    }

    private int[] size(int slices) {
        return new int[] {header.columns(), header.rows(), slices};
    }

    private int[] target() {
        return new int[] {plane.width(), plane.height()};
    }

    /** Enqueues the drawing of the slab in the texture; later reads into it are ordered behind. */
    public void visit(SlabPlan.Range slab) {
        Canvas here = canvas;
        if (here == null) {
            throw new IllegalStateException("no slab was read");
        }
        int slices = slab.to() - slab.from();
        Quads shown = quads.computeIfAbsent(slices, thick -> {
            Quads made = Quads.of(painter.device(), plane.along(), size(thick));
            painter.keep(made.buffer());
            return made;
        });
        boolean through = plane.along() == 2;
        float[] view = {0, through ? 0 : slab.from(), plane.width(), through ? plane.height() : slices, 0, 1};
        painter.draw(here, view, shown, voxel);
    }

    /** Waits for the device and returns the picture, once every slab was visited. */
    public Picture finish() {
        Canvas here = canvas;
        if (here == null) {
            throw new IllegalStateException("no slab was read");
        }
        return plane.picture(here.values(target()));
    }

    @Override
    public int mostSlices() {
        return MOST_TEXELS;
    }

    @Override
    public long heldBytes(int slices) {
        return 0;
    }

    @Override
    public void close() {
        Canvas here = canvas;
        if (here != null) {
            here.close();
        }
        quads.values().forEach(made -> painter.drop(made.buffer()));
        painter.drop(voxel);
    }

    /**
     * Quads that fill the view, one for each voxel along a line; each shows the plane of a slab's voxels there.
     *
     * @param buffer the vertex buffer
     * @param vertices in it
     */
    record Quads(long buffer, int vertices) {

        static final int VERTEX_BYTES = 5 * Float.BYTES;

        private static final int BIND_VERTEX_BUFFER = 1;
        private static final float[][] CORNERS = {{0, 0}, {1, 0}, {0, 1}, {1, 0}, {1, 1}, {0, 1}};

        /**
         * Creates the quads.
         *
         * @param along the axis of the file that lines run along
         * @param size of the slab: columns, rows, slices
         */
        static Quads of(long device, int along, int[] size) {
            int right = along == 0 ? 1 : 0;
            int down = along == 2 ? 1 : 2;
            float[] floats = new float[size[along] * CORNERS.length * VERTEX_BYTES / Float.BYTES];
            int at = 0;
            for (int voxel = 0; voxel < size[along]; voxel++) {
                for (float[] corner : CORNERS) {
                    floats[at++] = 2 * corner[0] - 1;
                    floats[at++] = 1 - 2 * corner[1];
                    floats[at + right] = corner[0] * size[right];
                    floats[at + down] = corner[1] * size[down];
                    floats[at + along] = voxel + 0.5f;
                    at += 3;
                }
            }
            return new Quads(Layouts.buffer(device, BIND_VERTEX_BUFFER, floats), size[along] * CORNERS.length);
        }
    }
}
