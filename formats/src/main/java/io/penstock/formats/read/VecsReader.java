// SPDX-License-Identifier: Apache-2.0
package io.penstock.formats.read;

import io.penstock.formats.Array;
import io.penstock.formats.ArrayFile;
import io.penstock.formats.ElementType;
import io.penstock.formats.FileBlocks;
import io.penstock.formats.FormatOption;
import java.io.IOException;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;

/**
 * {@code .fvecs}, {@code .bvecs} and {@code .ivecs}, as of the collections SIFT1M and GIST1M: vectors one behind the
 * other, each behind its dimension in 4 bytes, little-endian. They are one matrix, named as the file.
 */
public final class VecsReader implements FormatReader {

    private static final Map<String, ElementType> TYPES =
            Map.of("fvecs", ElementType.F32, "bvecs", ElementType.U8, "ivecs", ElementType.I32);

    private static String suffix(Path path) {
        String name = String.valueOf(path.getFileName()).toLowerCase(Locale.ROOT);
        return name.substring(name.lastIndexOf('.') + 1);
    }

    /** The format has no magic number. A dimension has less than 2^24 elements, and a text in its place has not. */
    @Override
    public boolean recognizes(Path path, byte[] start) {
        return TYPES.containsKey(suffix(path)) && start.length >= Integer.BYTES && start[3] == 0;
    }

    @Override
    public ArrayFile read(Path path, Set<FormatOption> permitted) throws IOException {
        String format = suffix(path);
        ElementType type = TYPES.getOrDefault(format, ElementType.F32);
        try (HeaderBytes bytes = new HeaderBytes(path, format)) { // any first bytes may be a dimension
            long columns = bytes.u32("the dimension");
            long row = type.bytes(columns);
            long stride = Integer.BYTES + row;
            if (columns == 0 || bytes.length() % stride != 0) {
                throw bytes.malformed("it begins with the dimension " + columns
                        + ", so that its length must be a multiple of " + stride + ", was " + bytes.length());
            }
            long rows = bytes.length() / stride;
            FileBlocks data = new FileBlocks(path, Integer.BYTES, row, stride, rows);
            compare(bytes, data, rows - 1, columns);
            String name = String.valueOf(path.getFileName());
            Array array = new Array(
                    name.substring(0, name.length() - format.length() - 1),
                    type,
                    List.of(rows, columns),
                    ByteOrder.LITTLE_ENDIAN,
                    Array.Order.ROW_MAJOR,
                    data);
            return new ArrayFile(path, format, Map.of(), List.of(array));
        }
    }

    /** Compares the dimensions before all rows with the first. Reads the whole file. */
    public static void check(FileBlocks rows) throws IOException {
        try (HeaderBytes bytes = new HeaderBytes(rows.file(), suffix(rows.file()))) {
            long columns = bytes.u32("the dimension");
            for (long i = 0; i < rows.count(); i++) {
                compare(bytes, rows, i, columns);
            }
        }
    }

    private static void compare(HeaderBytes bytes, FileBlocks rows, long number, long columns) throws IOException {
        long at = number * rows.stride();
        bytes.seek(at, "a dimension");
        long found = bytes.u32("a dimension");
        if (found != columns) {
            throw bytes.malformed("row " + number + " at byte " + at + " has the dimension " + found
                    + ", but must have the first row's, " + columns);
        }
    }
}
