// SPDX-License-Identifier: Apache-2.0
package io.penstock.formats;

import io.penstock.BufferRegion;
import java.nio.ByteOrder;
import java.util.List;
import java.util.Objects;

/**
 * An array in device memory. It owns nothing: the memory is that of the {@link LoadedArrays} or the buffer that it lies
 * in.
 *
 * @param name the name
 * @param type the type of the elements
 * @param shape the extent of each dimension; empty for a scalar
 * @param byteOrder the byte order of the elements
 * @param order which dimension varies fastest
 * @param region the bytes
 */
public record DeviceArray(
        String name, ElementType type, List<Long> shape, ByteOrder byteOrder, Array.Order order, BufferRegion region) {

    /**
     * Checks that shape, type and region agree.
     *
     * @throws IllegalArgumentException if the region has another length than shape and type demand
     */
    public DeviceArray {
        Objects.requireNonNull(name, "name");
        Objects.requireNonNull(byteOrder, "byteOrder");
        Objects.requireNonNull(order, "order");
        shape = List.copyOf(shape);
        long bytes = Array.bytes(type, shape);
        if (bytes != region.length()) {
            throw new IllegalArgumentException("array " + name + " of shape " + shape + " and type " + type + " takes "
                    + bytes + " bytes, had " + region.length());
        }
    }

    /** Returns an array of little-endian elements in row-major order. */
    public static DeviceArray of(String name, ElementType type, List<Long> shape, BufferRegion region) {
        return new DeviceArray(name, type, shape, ByteOrder.LITTLE_ENDIAN, Array.Order.ROW_MAJOR, region);
    }

    /** Returns its length in bytes. */
    public long bytes() {
        return region.length();
    }

    /** Returns {@code lm_head.weight BF16 [32000, 4096]}. */
    @Override
    public String toString() {
        return name + " " + type + " " + shape;
    }
}
