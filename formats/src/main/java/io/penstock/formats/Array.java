// SPDX-License-Identifier: Apache-2.0
package io.penstock.formats;

import java.nio.ByteOrder;
import java.util.List;
import java.util.Objects;

/**
 * An array in a file: its name, type and shape, and where its bytes lie. A description only: nothing of the data has
 * been read.
 *
 * @param name the name, unique in its file; for a chunked array the path of its node
 * @param type the type of the elements
 * @param shape the extent of each dimension; empty for a scalar
 * @param byteOrder the byte order of the elements
 * @param order which dimension varies fastest in the file
 * @param data where the bytes lie
 */
public record Array(String name, ElementType type, List<Long> shape, ByteOrder byteOrder, Order order, Data data) {

    /** Which dimension varies fastest in the file. */
    public enum Order {
        /** The last one, as in C: rows lie side by side. */
        ROW_MAJOR,
        /** The first one, as in Fortran. */
        COLUMN_MAJOR
    }

    /** Where the bytes of an array lie: in one place, without gaps, or with gaps between rows; or in chunks. */
    public sealed interface Data permits Extent, FileBlocks, Data.Chunked {

        /**
         * Chunks of equal shape. Chunks at the far edges have the full shape too, and extend beyond the array.
         *
         * @param chunkShape the extent of a chunk in each dimension
         * @param dimensionOrder the dimensions in a chunk, slowest varying first; empty if that is the
         *     {@linkplain Array#order() order of the array}
         * @param chunks the chunks that exist, in row-major order of the grid; the elements of all others have the
         *     fill value
         * @param fill the bytes of an element of chunks that do not exist, in the array's byte order; empty for zeros
         */
        record Chunked(List<Long> chunkShape, List<Integer> dimensionOrder, List<ChunkData> chunks, List<Byte> fill)
                implements Data {
            /** Copies the lists. */
            public Chunked {
                chunkShape = List.copyOf(chunkShape);
                dimensionOrder = List.copyOf(dimensionOrder);
                chunks = List.copyOf(chunks);
                fill = List.copyOf(fill);
            }
        }
    }

    /**
     * One chunk of a chunked array.
     *
     * @param position the position in the grid, in chunks, of each dimension
     * @param extent the bytes, as stored
     * @param codecs what the bytes passed through after they were laid out, in that order, such as {@code zstd},
     *     or {@code deflate:0991fec3}, with a parameter behind the colon; empty if the bytes are the elements
     */
    public record ChunkData(List<Long> position, Extent extent, List<String> codecs) {
        /** Copies the lists. */
        public ChunkData {
            position = List.copyOf(position);
            Objects.requireNonNull(extent, "extent");
            codecs = List.copyOf(codecs);
        }
    }

    /**
     * Checks that shape, type and data agree.
     *
     * @throws IllegalArgumentException if a dimension is negative, or data in one place have another length than shape
     *     and type say
     */
    public Array {
        Objects.requireNonNull(name, "name");
        Objects.requireNonNull(byteOrder, "byteOrder");
        Objects.requireNonNull(order, "order");
        shape = List.copyOf(shape);
        long bytes = bytes(type, shape);
        if (data instanceof ArraySource source && source.bytes() != bytes) {
            throw new IllegalArgumentException(
                    "shape " + shape + " of " + type + " takes " + bytes + " bytes, had " + source.bytes());
        }
        if (data instanceof FileBlocks rows
                && (shape.size() != 2 || shape.get(0) != rows.count() || order != Order.ROW_MAJOR)) {
            throw new IllegalArgumentException("gaps must be between the rows of a matrix, were in " + shape);
        }
    }

    /**
     * Returns the bytes of an array of that type and shape.
     *
     * @throws IllegalArgumentException if a dimension is negative, they are more than a long can hold, or not whole
     *     blocks
     */
    public static long bytes(ElementType type, List<Long> shape) {
        try {
            return type.bytes(elements(shape));
        } catch (ArithmeticException e) {
            throw new IllegalArgumentException("shape " + shape + " of " + type + ": " + e.getMessage(), e);
        }
    }

    private static long elements(List<Long> shape) {
        boolean empty = false;
        for (int i = 0; i < shape.size(); i++) {
            long dimension = shape.get(i);
            if (dimension < 0) {
                throw new IllegalArgumentException("dimensions must be at least 0, were " + shape);
            }
            empty |= dimension == 0;
        }
        long elements = empty ? 0 : 1;
        for (int i = 0; i < shape.size() && !empty; i++) {
            elements = Math.multiplyExact(elements, (long) shape.get(i));
        }
        return elements;
    }

    /** Returns the number of elements. */
    public long elements() {
        return elements(shape);
    }

    /** Returns the bytes of all elements, uncompressed and without what chunks have beyond the array. */
    public long bytes() {
        return data instanceof Extent extent ? extent.length() : type.bytes(elements());
    }
}
