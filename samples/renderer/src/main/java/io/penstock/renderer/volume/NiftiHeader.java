// SPDX-License-Identifier: Apache-2.0
package io.penstock.renderer.volume;

import io.penstock.formats.MalformedFileException;
import io.penstock.formats.NiftiFields;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;

/**
 * What is drawn of a NIfTI file: the first volume.
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

    private static final long MAX_VOLUME_BYTES = 1L << 40;
    private static final int MAX_VOLUMES = Integer.MAX_VALUE;

    /** Distances between voxels along the three axes of the file. */
    public record Spacing(double columns, double rows, double slices) {

        double along(int axis) {
            return axis == 0 ? columns : axis == 1 ? rows : slices;
        }
    }

    /**
     * Parses a header.
     *
     * @param path the file, in messages
     * @param bytes the first bytes of the file, from position to limit
     * @throws BadVolumeException if they are not the header of a volume that can be drawn
     */
    public static NiftiHeader parse(Path path, ByteBuffer bytes) throws BadVolumeException {
        try {
            return of(path, NiftiFields.parse(path, bytes));
        } catch (MalformedFileException e) {
            throw new BadVolumeException(String.valueOf(e.getMessage()), e);
        }
    }

    private static NiftiHeader of(Path path, NiftiFields fields) throws BadVolumeException {
        VoxelType type = VoxelType.of(fields.type())
                .orElseThrow(() -> new BadVolumeException(path + " has " + fields.type()
                        + " voxels; 8-bit and 16-bit integers and float32 are supported"));
        List<Long> shape = fields.shape();
        int[] extents = new int[3];
        double[] spacing = {1, 1, 1};
        Arrays.fill(extents, 1);
        long bytes = type.bytes();
        for (int i = 0; i < Math.min(3, shape.size()); i++) {
            bytes *= shape.get(i); // cannot overflow: the fields were checked
            if (bytes > MAX_VOLUME_BYTES || shape.get(i) > Integer.MAX_VALUE) {
                throw absurd(path, fields, type);
            }
            extents[i] = Math.toIntExact(shape.get(i));
            spacing[i] = spacing(path, fields, i);
        }
        if (fields.offset() > MAX_VOLUME_BYTES) {
            throw absurd(path, fields, type);
        }
        long volumes = shape.stream().skip(3).reduce(1L, (a, b) -> Math.min(a * b, MAX_VOLUMES));
        return new NiftiHeader(
                type,
                fields.byteOrder(),
                extents[0],
                extents[1],
                extents[2],
                volumes,
                fields.offset(),
                new Spacing(spacing[0], spacing[1], spacing[2]),
                fields.slope() < 0,
                Orientation.of(fields.axes()));
    }

    private static BadVolumeException absurd(Path path, NiftiFields fields, VoxelType type) {
        return new BadVolumeException(path + " is absurdly large: " + fields.shape() + " voxels of " + type
                + " from byte " + fields.offset() + " on, more than 1 TiB");
    }

    private static double spacing(Path path, NiftiFields fields, int axis) throws BadVolumeException {
        double spacing = Math.abs(fields.spacing().get(axis));
        if (spacing == 0) {
            return 1; // many writers leave it out
        }
        if (!(spacing >= 1e-6f && spacing <= 1e6f)) {
            throw new BadVolumeException(path + " has voxels at an absurd distance: pixdim[" + (axis + 1) + "] is "
                    + fields.spacing().get(axis));
        }
        return spacing;
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
