// SPDX-License-Identifier: Apache-2.0
package io.penstock.renderer.volume;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/** Reads the fields of a NIfTI-1 header at their offsets in nifti1.h, and refuses implausible values. */
final class NiftiHeaderParser {

    private static final int NIFTI_2_BYTES = 540;
    private static final long MAX_VOLUME_BYTES = 1L << 40;

    private static final int DIM = 40;
    private static final int DATATYPE = 70;
    private static final int BITPIX = 72;
    private static final int PIXDIM = 76;
    private static final int VOX_OFFSET = 108;
    private static final int SCL_SLOPE = 112;
    private static final int MAGIC = 344;

    private final String name;
    private final ByteBuffer header;

    NiftiHeaderParser(String name, ByteBuffer header) {
        this.name = name;
        this.header = header;
    }

    NiftiHeader parse() throws BadVolumeException {
        header.order(byteOrder());
        checkMagic();
        VoxelType type = type();
        int dimensions = header.getShort(DIM);
        int[] extents = {extent(1, dimensions), extent(2, dimensions), extent(3, dimensions)};
        checkSize(extents, type);
        return new NiftiHeader(
                type,
                header.order(),
                extents[0],
                extents[1],
                extents[2],
                volumes(dimensions),
                voxelOffset(),
                new NiftiHeader.Spacing(spacing(1), spacing(2), spacing(3)),
                header.getFloat(SCL_SLOPE) < 0,
                Orientation.of(header));
    }

    private ByteOrder byteOrder() throws BadVolumeException {
        if (header.limit() < NiftiHeader.BYTES) {
            throw bad("is not NIfTI-1: it has " + header.limit() + " bytes, its header alone must have "
                    + NiftiHeader.BYTES);
        }
        for (ByteOrder order : new ByteOrder[] {ByteOrder.LITTLE_ENDIAN, ByteOrder.BIG_ENDIAN}) {
            int size = header.order(order).getInt(0);
            if (size == NiftiHeader.BYTES) {
                return order;
            }
            if (size == NIFTI_2_BYTES) {
                throw bad("is NIfTI-2; only NIfTI-1 is supported");
            }
        }
        throw bad("is not NIfTI-1: it does not start with the header's length, 348");
    }

    private void checkMagic() throws BadVolumeException {
        int magic = header.duplicate().order(ByteOrder.BIG_ENDIAN).getInt(MAGIC);
        if (magic == 0x6e693100) { // "ni1"
            throw bad("is the header of a .hdr/.img pair; only single .nii files are supported");
        }
        if (magic == 0) {
            throw bad("is ANALYZE 7.5, not NIfTI-1: it has no magic number");
        }
        if (magic != 0x6e2b3100) { // "n+1"
            throw bad("is not NIfTI-1: its magic number is 0x%08x".formatted(magic));
        }
    }

    private VoxelType type() throws BadVolumeException {
        int datatype = header.getShort(DATATYPE);
        VoxelType type = VoxelType.of(datatype)
                .orElseThrow(() -> bad("has " + VoxelType.nameOf(datatype) + " voxels (datatype " + datatype
                        + "); 8-bit and 16-bit integers and float32 are supported"));
        int bits = header.getShort(BITPIX);
        if (bits != 8 * type.bytes()) {
            throw bad("contradicts itself: its datatype is " + type + ", but it has " + bits + " bits per voxel");
        }
        return type;
    }

    private int extent(int axis, int dimensions) throws BadVolumeException {
        if (dimensions < 1 || dimensions > 7) {
            throw bad("has absurd dimensions: dim[0] is " + dimensions + ", not 1 to 7");
        }
        if (axis > dimensions) {
            return 1;
        }
        int extent = header.getShort(DIM + 2 * axis);
        if (extent < 1) {
            throw bad("has absurd dimensions: dim[" + axis + "] is " + extent);
        }
        return extent;
    }

    private void checkSize(int[] extents, VoxelType type) throws BadVolumeException {
        long bytes = (long) extents[0] * extents[1] * extents[2] * type.bytes(); // 15 bits each: cannot overflow
        if (bytes > MAX_VOLUME_BYTES) {
            throw bad("has absurd dimensions: " + extents[0] + " x " + extents[1] + " x " + extents[2] + " voxels of "
                    + type + " are " + bytes + " bytes, more than 1 TiB");
        }
    }

    private long volumes(int dimensions) throws BadVolumeException {
        long volumes = 1;
        for (int axis = 4; axis <= dimensions; axis++) {
            volumes = Math.min(volumes * extent(axis, dimensions), Integer.MAX_VALUE);
        }
        return volumes;
    }

    private long voxelOffset() throws BadVolumeException {
        float offset = header.getFloat(VOX_OFFSET);
        if (!(offset >= NiftiHeader.BYTES && offset <= MAX_VOLUME_BYTES) || offset != (long) offset) {
            throw bad("has absurd dimensions: its voxels start at byte " + offset);
        }
        return (long) offset;
    }

    private double spacing(int axis) throws BadVolumeException {
        float spacing = Math.abs(header.getFloat(PIXDIM + 4 * axis));
        if (spacing == 0) {
            return 1; // many writers leave it out
        }
        if (!(spacing >= 1e-6f && spacing <= 1e6f)) {
            throw bad("has absurd dimensions: pixdim[" + axis + "] is " + spacing);
        }
        return spacing;
    }

    private BadVolumeException bad(String fact) {
        return new BadVolumeException(name + " " + fact);
    }
}
