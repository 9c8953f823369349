// SPDX-License-Identifier: Apache-2.0
package io.penstock.renderer.volume;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * The checked contents of the 348-byte header of a NIfTI-1 file.
 *
 * @param type the kind of voxel
 * @param order the byte order of header and voxels
 * @param columns voxels along the first axis, which varies fastest in the file
 * @param rows voxels along the second axis
 * @param slices voxels along the third axis
 * @param volumes how many volumes follow each other; only the first is drawn
 * @param voxelOffset where the voxels start, in bytes from the start of the file
 * @param spacing distances between voxels along the three axes, in the file's unit, each greater than 0
 * @param falling true if larger voxels represent smaller values ({@code scl_slope} is negative)
 * @param orientation the orientation of the axes in the patient
 */
public record NiftiHeader(
        VoxelType type,
        ByteOrder order,
        int columns,
        int rows,
        int slices,
        long volumes,
        long voxelOffset,
        Spacing spacing,
        boolean falling,
        Orientation orientation) {

    /** The length of the header itself. */
    public static final int BYTES = 348;

    /** Distances between voxels along the three axes of the file. */
    public record Spacing(double columns, double rows, double slices) {

        double along(int axis) {
            return axis == 0 ? columns : axis == 1 ? rows : slices;
        }
    }

    /**
     * Parses a header.
     *
     * @param name the name of the file in messages
     * @param bytes the first bytes of the file, from position to limit
     * @throws BadVolumeException if they are not the header of a volume that can be drawn
     */
    public static NiftiHeader parse(String name, ByteBuffer bytes) throws BadVolumeException {
        return new NiftiHeaderParser(name, bytes.slice()).parse();
    }

    /** Returns the number of voxels along axis 0, 1 or 2. */
    public int along(int axis) {
        return axis == 0 ? columns : axis == 1 ? rows : slices;
    }

    public long sliceBytes() {
        return (long) columns * rows * type.bytes();
    }

    /** Returns the bytes of the first volume. */
    public long volumeBytes() {
        return sliceBytes() * slices;
    }

    /** Returns where the first volume ends, in bytes from the start of the file. */
    public long end() {
        return voxelOffset + volumeBytes();
    }
}
