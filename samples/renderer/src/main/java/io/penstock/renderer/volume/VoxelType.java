// SPDX-License-Identifier: Apache-2.0
package io.penstock.renderer.volume;

import io.penstock.formats.ElementType;
import java.util.Optional;
import java.util.stream.Stream;

/** The kinds of voxel that can be drawn. */
public enum VoxelType {
    UINT8("U8", 1, 0, 255),
    INT16("I16", 2, -32768, 32767),
    FLOAT32("F32", 4, Float.NEGATIVE_INFINITY, Float.POSITIVE_INFINITY),
    INT8("I8", 1, -128, 127),
    UINT16("U16", 2, 0, 65535);

    private final String type; // the name of its ElementType
    private final int bytes;
    private final float lowest;
    private final float highest;

    VoxelType(String type, int bytes, float lowest, float highest) {
        this.type = type;
        this.bytes = bytes;
        this.lowest = lowest;
        this.highest = highest;
    }

    /** Returns the kind of that type, if it is one of these. */
    static Optional<VoxelType> of(ElementType type) {
        return Stream.of(values())
                .filter(voxel -> voxel.type.equals(type.name()))
                .findFirst();
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
