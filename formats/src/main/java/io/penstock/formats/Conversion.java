// SPDX-License-Identifier: Apache-2.0
package io.penstock.formats;

import io.penstock.formats.codec.SmallFloats;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;

/**
 * What the elements of an array are converted to on their way, in memory of the host.
 *
 * @param hostBytes the most memory of the host that a part of the array takes
 * @param swapped the bytes of a number, which are reversed; 0 if none are
 * @param narrowed whether float becomes bfloat16
 */
public record Conversion(long hostBytes, int swapped, boolean narrowed) {

    private static final ByteOrder DEVICE = ByteOrder.LITTLE_ENDIAN;
    private static final Pattern NO_NUMBERS = Pattern.compile("[SV]\\d+|RGB24|RGBA32");
    private static final Pattern TEXT = Pattern.compile("U\\d+");

    /** Returns the conversion of an array. */
    static Conversion of(Array array, long hostBytes, boolean littleEndian, boolean brainFloats) {
        boolean narrowed = brainFloats && array.type().equals(ElementType.F32);
        boolean big = array.byteOrder() == ByteOrder.BIG_ENDIAN;
        return new Conversion(hostBytes, big && (littleEndian || narrowed) ? numberBytes(array) : 0, narrowed);
    }

    /** Returns whether elements are numbers of several bytes, not single bytes, bits, colours, or text in bytes. */
    static boolean hasByteOrder(ElementType type) {
        return type.blockBytes() > 1 && !NO_NUMBERS.matcher(type.name()).matches();
    }

    /** Returns the bytes of a number, or 0 if the elements have no byte order. */
    private static int numberBytes(Array array) {
        ElementType type = array.type();
        if (type.blockElements() == 1 && !hasByteOrder(type)) {
            return 0;
        }
        int bytes = type.blockBytes();
        if (type.equals(ElementType.C64)
                || type.equals(ElementType.C128)
                || type.name().equals("DAY_TIME")) {
            bytes /= 2; // two numbers
        } else if (TEXT.matcher(type.name()).matches() && bytes % Integer.BYTES == 0 && !isInteger(type)) {
            bytes = Integer.BYTES; // text
        }
        if (type.blockElements() != 1 || bytes != 2 && bytes != 4 && bytes != 8) {
            throw new IllegalArgumentException("array " + MalformedFileException.plain(array.name()) + " of " + type
                    + " cannot be made little-endian");
        }
        return bytes;
    }

    private static boolean isInteger(ElementType type) {
        return type.equals(ElementType.U16) || type.equals(ElementType.U32) || type.equals(ElementType.U64);
    }

    /** Returns whether the elements stay what they are. */
    public boolean isNone() {
        return swapped == 0 && !narrowed;
    }

    /** Returns the bytes after the conversion. */
    long bytes(long before) {
        return narrowed ? before / 2 : before;
    }

    ElementType type(ElementType before) {
        return narrowed ? ElementType.BF16 : before;
    }

    ByteOrder byteOrder(Array array) {
        boolean device = array.byteOrder() == DEVICE || !isNone() || !hasByteOrder(array.type());
        return device ? DEVICE : array.byteOrder();
    }

    /** Returns what has been done, in words. */
    List<String> names() {
        List<String> names = new ArrayList<>();
        if (swapped > 0) {
            names.add("byte swap");
        }
        if (narrowed) {
            names.add("F32 to BF16");
        }
        return names;
    }

    /** Converts all bytes of a buffer in place, and sets its limit. */
    void apply(ByteBuffer bytes) {
        if (swapped > 0) {
            swap(bytes);
        }
        if (narrowed) {
            int count = bytes.limit() / Float.BYTES;
            bytes.order(DEVICE);
            for (int i = 0; i < count; i++) {
                bytes.putShort(Short.BYTES * i, SmallFloats.brain(bytes.getFloat(Float.BYTES * i)));
            }
            bytes.limit(Short.BYTES * count);
        }
    }

    private void swap(ByteBuffer bytes) {
        for (int at = 0; at < bytes.limit(); at += swapped) {
            switch (swapped) {
                case Short.BYTES -> bytes.putShort(at, Short.reverseBytes(bytes.getShort(at)));
                case Integer.BYTES -> bytes.putInt(at, Integer.reverseBytes(bytes.getInt(at)));
                default -> bytes.putLong(at, Long.reverseBytes(bytes.getLong(at)));
            }
        }
    }
}
