// SPDX-License-Identifier: Apache-2.0
package io.penstock.formats;

import io.penstock.BufferRegion;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import reactor.core.publisher.Mono;

/**
 * An array in device memory. It owns nothing: the memory belongs to the {@link LoadedArrays} or the buffer that it lies
 * in.
 *
 * @param name the name
 * @param type the type of the elements
 * @param shape the extent of each dimension; empty for a scalar
 * @param byteOrder the byte order of the elements
 * @param order which dimension varies fastest
 * @param region the bytes
 * @param rowStride the bytes from the start of a row of a matrix to the start of the next, if there are gaps between
 *     them; otherwise 0
 */
public record DeviceArray(
        String name,
        ElementType type,
        List<Long> shape,
        ByteOrder byteOrder,
        Array.Order order,
        BufferRegion region,
        long rowStride) {

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
        if (rowStride != 0) {
            long row = shape.size() == 2 && order == Array.Order.ROW_MAJOR ? type.bytes(shape.get(1)) : Long.MAX_VALUE;
            if (rowStride < row || shape.get(0) == 0) {
                throw new IllegalArgumentException("array " + name + " of shape " + shape + " and type " + type
                        + " cannot have rows every " + rowStride + " bytes");
            }
            bytes = Math.addExact(Math.multiplyExact(shape.get(0) - 1, rowStride), row);
        }
        if (bytes != region.length()) {
            throw new IllegalArgumentException("array " + name + " of shape " + shape + " and type " + type + " takes "
                    + bytes + " bytes, had " + region.length());
        }
    }

    /** Describes an array whose elements lie without gaps. */
    public DeviceArray(
            String name,
            ElementType type,
            List<Long> shape,
            ByteOrder byteOrder,
            Array.Order order,
            BufferRegion region) {
        this(name, type, shape, byteOrder, order, region, 0);
    }

    /** Returns an array of little-endian elements in row-major order. */
    public static DeviceArray of(String name, ElementType type, List<Long> shape, BufferRegion region) {
        return new DeviceArray(name, type, shape, ByteOrder.LITTLE_ENDIAN, Array.Order.ROW_MAJOR, region);
    }

    /**
     * Returns arrays as one, with the rows of all: in one buffer, each directly behind the one before it, as a loader
     * places them {@linkplain Loader#alignment without gaps}.
     *
     * @throws IllegalArgumentException if they do not lie so, or differ in more than the first dimension
     * @throws IndexOutOfBoundsException if there are none
     */
    public static DeviceArray joined(String name, List<DeviceArray> parts) {
        DeviceArray first = parts.get(0);
        long rows = 0;
        long end = first.region.offset();
        for (DeviceArray part : parts) {
            if (!part.rows().equals(first.rows()) || part.region.offset() != end) {
                throw new IllegalArgumentException("array " + part + " at " + part.region.offset() + " must lie behind "
                        + first + ", at " + end + " of the same buffer, with rows as it has");
            }
            rows += part.shape.get(0);
            end += part.bytes();
        }
        List<Long> shape = new ArrayList<>(first.shape);
        shape.set(0, rows);
        BufferRegion region = first.region.buffer().region(first.region.offset(), end - first.region.offset());
        return new DeviceArray(name, first.type, shape, first.byteOrder, first.order, region);
    }

    /** Returns what arrays must have in common to be one; of itself alone if it has no rows that lie side by side. */
    private List<Object> rows() {
        boolean sideBySide = shape.size() == 1 || order == Array.Order.ROW_MAJOR && !shape.isEmpty() && rowStride == 0;
        return sideBySide
                ? List.of(region.buffer(), type, byteOrder, order, shape.subList(1, shape.size()))
                : List.of(new Object());
    }

    /** Returns the length of the region in bytes, gaps included. */
    public long bytes() {
        return region.length();
    }

    /**
     * Emits a copy of the elements in memory of the host, on the backend's delivery scheduler. The memory of the array
     * must stay open until then.
     *
     * <p><b>Errors:</b> {@link IllegalArgumentException} if the array has more bytes than a {@link ByteBuffer} can hold,
     * or gaps; {@link io.penstock.ClosedException}.
     */
    public Mono<ArrayValues> download() {
        return Mono.defer(() -> {
            if (bytes() > Integer.MAX_VALUE) {
                return Mono.error(new IllegalArgumentException("array " + this + " has " + bytes() + " bytes; at most "
                        + Integer.MAX_VALUE + " can be downloaded at once"));
            }
            return download(bytes());
        });
    }

    /**
     * Emits name, type, shape and the first values, {@code scale F32 [2, 3]: 0.5, -1.0, 0.0, 2.0, 1.5, 8.0}: the text of
     * {@link ArrayValues}, of an array of any size, since only these values are copied. {@link #toString} has none: it
     * does not wait for a device.
     *
     * <p><b>Errors:</b> {@link IllegalArgumentException} if it has gaps; {@link io.penstock.ClosedException}.
     */
    public Mono<String> preview() {
        long first = (long) ArrayValues.SHOWN * type.blockBytes();
        return Mono.defer(() -> download(Math.min(first, bytes()))).map(ArrayValues::toString);
    }

    void refuseGaps() {
        if (rowStride != 0) {
            throw new IllegalArgumentException("array " + this + " has gaps between its rows; load it without them");
        }
    }

    private Mono<ArrayValues> download(long bytes) {
        refuseGaps();
        ByteBuffer target = ByteBuffer.allocate((int) bytes);
        return region.buffer().download(region.offset(), target).thenReturn(new ArrayValues(this, target));
    }

    /**
     * Emits the elements as floats, as {@link ArrayValues#floats()} makes them.
     *
     * <p><b>Errors:</b> as of {@link #download}, and {@link UnsupportedOperationException} if elements of the type are
     * not numbers.
     */
    public Mono<float[]> floats() {
        return download().map(ArrayValues::floats);
    }

    /**
     * Emits the elements as doubles, as {@link ArrayValues#doubles()} makes them.
     *
     * <p><b>Errors:</b> as of {@link #floats}.
     */
    public Mono<double[]> doubles() {
        return download().map(ArrayValues::doubles);
    }

    /** Returns {@code lm_head.weight BF16 [32000, 4096]}; {@link #preview} emits values, too. */
    @Override
    public String toString() {
        return name + " " + type + " " + shape;
    }
}
