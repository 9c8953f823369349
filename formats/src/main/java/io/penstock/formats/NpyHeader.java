// SPDX-License-Identifier: Apache-2.0
package io.penstock.formats;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;

/**
 * The header of an array in NumPy's format, versions 1 to 3 ({@code numpy/lib/format.py}): magic number, version, length,
 * and a Python dictionary.
 *
 * @param bytes the length of the header; the data follow
 */
record NpyHeader(ElementType type, ByteOrder byteOrder, Array.Order order, List<Long> shape, int bytes) {

    static final String FORMAT = "npy";

    /** The most bytes of the dictionary: NumPy refuses more too, unless it is told to trust the file. */
    static final int MOST_TEXT_BYTES = 10_000;

    private static final byte[] MAGIC = {(byte) 0x93, 'N', 'U', 'M', 'P', 'Y'};
    private static final int VERSION_BYTES = 2;

    /** Where the header is read from. */
    interface Source {

        /** Returns the next bytes, or complains that there are not as many. */
        byte[] bytes(int count, String what) throws IOException;

        MalformedFileException malformed(String complaint);

        /** Complains of elements that NumPy has, and this library does not; other arrays of the file may be read. */
        default RuntimeException unsupported(String complaint) {
            return malformed(complaint);
        }
    }

    static boolean starts(byte[] start) {
        return start.length >= MAGIC.length && Arrays.equals(Arrays.copyOf(start, MAGIC.length), MAGIC);
    }

    static NpyHeader read(Source source) throws IOException {
        byte[] start = source.bytes(MAGIC.length + VERSION_BYTES, "the magic number");
        if (!starts(start)) {
            throw source.malformed("it must begin with \\x93NUMPY");
        }
        int version = start[MAGIC.length];
        if (version < 1 || version > 3 || start[MAGIC.length + 1] != 0) {
            throw source.malformed(
                    "version " + version + "." + start[MAGIC.length + 1] + " is not supported, only 1.0 to 3.0 are");
        }
        int lengthBytes = version == 1 ? Short.BYTES : Integer.BYTES;
        ByteBuffer number = ByteBuffer.wrap(source.bytes(lengthBytes, "the header's length"))
                .order(ByteOrder.LITTLE_ENDIAN);
        long length = version == 1 ? Short.toUnsignedInt(number.getShort()) : Integer.toUnsignedLong(number.getInt());
        if (length > MOST_TEXT_BYTES) {
            throw source.malformed("the header's length must be at most " + MOST_TEXT_BYTES + ", was " + length);
        }
        String text = new String(
                source.bytes((int) length, "the header"),
                version == 3 ? StandardCharsets.UTF_8 : StandardCharsets.ISO_8859_1);
        NpyDictionary dictionary = NpyDictionary.parse(source, text);
        if (NpyTypes.isPickled(dictionary.descr())) {
            throw source.unsupported(NpyTypes.PICKLED);
        }
        try {
            return new NpyHeader(
                    NpyTypes.type(dictionary.descr()),
                    NpyTypes.byteOrder(dictionary.descr()),
                    dictionary.fortranOrder() ? Array.Order.COLUMN_MAJOR : Array.Order.ROW_MAJOR,
                    dictionary.shape(),
                    start.length + lengthBytes + (int) length);
        } catch (IllegalArgumentException e) {
            throw source.malformed(String.valueOf(e.getMessage()));
        }
    }

    /** Returns the bytes of the data, checked against overflow. */
    long dataBytes(Source source) {
        try {
            return Array.bytes(type, shape);
        } catch (IllegalArgumentException e) {
            throw source.malformed(String.valueOf(e.getMessage()));
        }
    }

    Array array(String name, Array.Data data) {
        return new Array(name, type, shape, byteOrder, order, data);
    }
}
