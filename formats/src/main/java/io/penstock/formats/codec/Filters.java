// SPDX-License-Identifier: Apache-2.0
package io.penstock.formats.codec;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The filters of numcodecs that change where bytes are, or what a number is relative to. */
final class Filters {

    /** A number of NumPy: its byte order, its kind, its size. */
    private static final Pattern NUMBER = Pattern.compile("[<>|]([iuf])([1248])");

    private Filters() {}

    /** Returns bytes whose elements have their first bytes first, then their second ones, element by element. */
    static byte[] unshuffled(byte[] stored, int elementBytes) throws Codecs.Malformed {
        int count = stored.length / elementBytes;
        if (count * elementBytes != stored.length) {
            throw new Codecs.Malformed(stored.length + " bytes are not whole elements of " + elementBytes);
        }
        byte[] bytes = new byte[stored.length];
        for (int i = 0; i < count; i++) {
            for (int b = 0; b < elementBytes; b++) {
                bytes[i * elementBytes + b] = stored[b * count + i];
            }
        }
        return bytes;
    }

    /** Returns whether differences of numbers of one type in another can be summed up. */
    static boolean isDelta(String type, String differences) {
        Matcher from = NUMBER.matcher(differences);
        Matcher to = NUMBER.matcher(type);
        return from.matches()
                && to.matches()
                && from.group(2).compareTo(to.group(2)) <= 0
                && (from.group(1).equals("f")
                        ? isFloat(to) && type.equals(differences)
                        : !to.group(1).equals("f"));
    }

    private static boolean isFloat(Matcher type) {
        return type.group(1).equals("f") && !"12".contains(type.group(2));
    }

    /** Returns the sums of differences: whole numbers wrap, as NumPy's do. */
    static byte[] summed(byte[] stored, String type, String differences, int mostBytes) throws Codecs.Malformed {
        int from = differences.charAt(2) - '0';
        int to = type.charAt(2) - '0';
        int count = stored.length / from;
        if (count * from != stored.length || (long) count * to > mostBytes) {
            throw new Codecs.Malformed(stored.length + " bytes are not the differences of at most " + mostBytes);
        }
        ByteBuffer in = ByteBuffer.wrap(stored).order(order(differences));
        ByteBuffer out = ByteBuffer.allocate(count * to).order(order(type));
        long sum = 0;
        double real = 0;
        for (int i = 0; i < count; i++) {
            if (type.charAt(1) == 'f') {
                // Each sum is rounded to the type, as the next one starts from it.
                double next = to == Float.BYTES ? in.getFloat() : in.getDouble();
                real = i == 0 ? next : to == Float.BYTES ? (float) real + (float) next : real + next; // -0.0 stays
                put(
                        out,
                        to == Float.BYTES ? Float.floatToRawIntBits((float) real) : Double.doubleToRawLongBits(real),
                        to);
            } else {
                sum += number(in, from, differences.charAt(1) == 'u');
                put(out, sum, to);
            }
        }
        return out.array();
    }

    private static ByteOrder order(String type) {
        return type.charAt(0) == '>' ? ByteOrder.BIG_ENDIAN : ByteOrder.LITTLE_ENDIAN;
    }

    private static long number(ByteBuffer in, int bytes, boolean unsigned) {
        return switch (bytes) {
            case 1 -> unsigned ? in.get() & 0xff : in.get();
            case Short.BYTES -> unsigned ? in.getShort() & 0xffff : in.getShort();
            case Integer.BYTES -> unsigned ? Integer.toUnsignedLong(in.getInt()) : in.getInt();
            default -> in.getLong();
        };
    }

    private static void put(ByteBuffer out, long number, int bytes) {
        switch (bytes) {
            case 1 -> out.put((byte) number);
            case Short.BYTES -> out.putShort((short) number);
            case Integer.BYTES -> out.putInt((int) number);
            default -> out.putLong(number);
        }
    }
}
