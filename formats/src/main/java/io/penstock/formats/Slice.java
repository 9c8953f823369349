// SPDX-License-Identifier: Apache-2.0
package io.penstock.formats;

import io.penstock.formats.read.GgmlType;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/**
 * One of several equal parts of an array, for one of several devices. The parts of a dimension that cannot be divided
 * equally differ by one element, or by one block of a quantized type. All parts together are the array, each element
 * once. A scalar is not divided: every part has it.
 *
 * @param dimension the dimension that is divided
 * @param part the number of this part, from 0
 * @param of the number of parts
 */
public record Slice(Dimension dimension, int part, int of) {

    /** The dimension that is divided. */
    public enum Dimension {
        /** The first dimension: of a row-major array the parts lie side by side. */
        ROWS,
        /** The last dimension: of a row-major matrix each part has a piece of every row. */
        COLUMNS
    }

    /** Checks the numbers. */
    public Slice {
        if (of < 1) {
            throw new IllegalArgumentException("a slice must be of at least 1 part, was of " + of);
        }
        if (part < 0 || part >= of) {
            throw new IllegalArgumentException(
                    "a slice of " + of + " parts must be part 0 to " + (of - 1) + ", was " + part);
        }
    }

    /** Returns part {@code part}, from 0, of {@code of} parts of the first dimension. */
    public static Slice rows(int part, int of) {
        return new Slice(Dimension.ROWS, part, of);
    }

    /** Returns part {@code part}, from 0, of {@code of} parts of the last dimension. */
    public static Slice columns(int part, int of) {
        return new Slice(Dimension.COLUMNS, part, of);
    }

    /** A part of an array: its shape, and where its bytes lie. */
    record Cut(List<Long> shape, ArraySource source) {}

    /**
     * Returns the part of an array that lies in one place of its file.
     *
     * @throws IllegalArgumentException if the array is of a quantized type whose blocks would be divided
     */
    Cut cut(Array array, ArraySource data) {
        List<Long> shape = new ArrayList<>(array.shape());
        if (shape.isEmpty() || of == 1) {
            return new Cut(shape, data);
        }
        if (GgmlType.isUnknown(array.type())) {
            throw new IllegalArgumentException("array " + MalformedFileException.plain(array.name())
                    + " cannot be sliced: it is of the type " + array.type() + ", of which the rows are not known");
        }
        int divided = dimension == Dimension.ROWS ? 0 : shape.size() - 1;
        boolean rowMajor = array.order() == Array.Order.ROW_MAJOR;
        long inner = product(rowMajor ? shape.subList(divided + 1, shape.size()) : shape.subList(0, divided));
        long outer = product(rowMajor ? shape.subList(0, divided) : shape.subList(divided + 1, shape.size()));
        long size = shape.get(divided);
        long unit = unit(array, inner, size);
        long from = unit * share(size / unit, part);
        long to = unit * share(size / unit, part + 1);
        shape.set(divided, to - from);
        ElementType type = array.type();
        Extent extent = data.first();
        if (array.elements() == 0 || to == from) {
            return new Cut(shape, new Extent(extent.file(), extent.offset(), 0));
        }
        if (data instanceof FileBlocks rows) {
            boolean whole = dimension == Dimension.ROWS;
            long first = extent.offset() + (whole ? from * rows.stride() : type.bytes(from));
            long length = whole ? rows.length() : type.bytes(to - from);
            return new Cut(
                    shape, new FileBlocks(rows.file(), first, length, rows.stride(), whole ? to - from : rows.count()));
        }
        long offset = extent.offset() + type.bytes(from * inner);
        long length = type.bytes((to - from) * inner);
        long stride = type.bytes(size * inner);
        return new Cut(
                shape,
                outer == 1 || length == stride
                        ? new Extent(extent.file(), offset, length * outer)
                        : new FileBlocks(extent.file(), offset, length, stride, outer));
    }

    /** Returns the part of an array that is stored in chunks. */
    ChunkWindow window(Array array) {
        List<Long> from = new ArrayList<>(Collections.nCopies(array.shape().size(), 0L));
        List<Long> shape = new ArrayList<>(array.shape());
        if (!shape.isEmpty()) {
            int divided = dimension == Dimension.ROWS ? 0 : shape.size() - 1;
            long size = shape.get(divided);
            from.set(divided, share(size, part));
            shape.set(divided, share(size, part + 1) - from.get(divided));
        }
        return new ChunkWindow(array, from, shape);
    }

    /** Returns the least number of elements of the dimension that fill whole blocks. */
    private static long unit(Array array, long inner, long size) {
        long block = array.type().blockElements();
        long unit = inner == 0
                ? 1
                : block
                        / BigInteger.valueOf(block)
                                .gcd(BigInteger.valueOf(inner))
                                .longValue();
        if (size % unit != 0) {
            throw new IllegalArgumentException(
                    "array " + MalformedFileException.plain(array.name()) + " of shape " + array.shape() + " and type "
                            + array.type() + " cannot be sliced: a block of " + block + " elements would be divided");
        }
        return unit;
    }

    /** Returns {@code count * parts / of}, rounded down, without overflow. */
    private long share(long count, int parts) {
        return count / of * parts + count % of * parts / of;
    }

    private static long product(List<Long> extents) {
        return extents.stream().reduce(1L, (a, b) -> a * b); // of an array whose bytes fit a long, unless one is 0
    }

    /** Returns {@code part 0 of 2 of the rows}. */
    @Override
    public String toString() {
        return "part " + part + " of " + of + " of the " + (dimension == Dimension.ROWS ? "rows" : "columns");
    }
}
