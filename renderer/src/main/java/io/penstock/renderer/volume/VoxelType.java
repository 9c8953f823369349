// SPDX-License-Identifier: Apache-2.0
package io.penstock.renderer.volume;

import java.util.Optional;

/** The kinds of voxel that can be drawn, with their NIfTI-1 datatype codes. */
public enum VoxelType {
    UINT8(2, 1, 0, 255),
    INT16(4, 2, -32768, 32767),
    FLOAT32(16, 4, Float.NEGATIVE_INFINITY, Float.POSITIVE_INFINITY),
    INT8(256, 1, -128, 127),
    UINT16(512, 2, 0, 65535);

    private final int datatype;
    private final int bytes;
    private final float lowest;
    private final float highest;

    VoxelType(int datatype, int bytes, float lowest, float highest) {
        this.datatype = datatype;
        this.bytes = bytes;
        this.lowest = lowest;
        this.highest = highest;
    }

    /** Returns the type of a header's {@code datatype} field, if it is one of these. */
    public static Optional<VoxelType> of(int datatype) {
        for (VoxelType type : values()) {
            if (type.datatype == datatype) {
                return Optional.of(type);
            }
        }
        return Optional.empty();
    }

    /** Returns the name of {@code datatype} in nifti1.h, for messages. */
    static String nameOf(int datatype) {
        return switch (datatype) {
            case 1 -> "1-bit";
            case 8 -> "int32";
            case 32 -> "complex64";
            case 64 -> "float64";
            case 128 -> "RGB24";
            case 768 -> "uint32";
            case 1024 -> "int64";
            case 1280 -> "uint64";
            case 1536 -> "float128";
            case 1792 -> "complex128";
            case 2048 -> "complex256";
            case 2304 -> "RGBA32";
            default -> of(datatype).map(VoxelType::toString).orElse("unknown");
        };
    }

    /** Returns the size of a voxel in bytes. */
    public int bytes() {
        return bytes;
    }

    /** Returns true if its values are known in advance to lie between {@link #lowest} and {@link #highest}. */
    boolean bounded() {
        return this != FLOAT32;
    }

    float lowest() {
        return lowest;
    }

    float highest() {
        return highest;
    }
}
