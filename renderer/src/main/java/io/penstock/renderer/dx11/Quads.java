// SPDX-License-Identifier: Apache-2.0
package io.penstock.renderer.dx11;

import io.penstock.renderer.dx11.ffi.Layouts;

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
