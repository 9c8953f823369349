// SPDX-License-Identifier: Apache-2.0
package io.penstock.formats;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.StringJoiner;

/**
 * The values of a GGUF file's metadata, as text. Long arrays and texts are abbreviated; what is left out is skipped in
 * the file, not read.
 */
final class GgufValues {

    static final int UINT32 = 4;
    static final int STRING = 8;
    static final int ARRAY = 9;

    private static final int BOOL = 7;
    private static final int MOST_SHOWN = 16; // elements of an array
    private static final int MOST_DEPTH = 8; // of arrays in arrays; the specification has no limit
    private static final int MOST_TEXT = 1 << 16; // bytes of a text

    /** The bytes of a value of each type; 0 for texts and arrays. */
    private static final List<Integer> SIZES = List.of(1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8);

    private final HeaderBytes bytes;

    GgufValues(HeaderBytes bytes) {
        this.bytes = bytes;
    }

    /** Reads a value of a type and returns it as text. */
    String value(long type, String what) throws IOException {
        return value(type, what, 0);
    }

    private String value(long type, String what, int depth) throws IOException {
        if (type >= SIZES.size()) {
            throw bytes.malformed(what + " has the unknown type " + type);
        }
        if (type == STRING) {
            return text(what);
        }
        return type == ARRAY ? array(what, depth) : scalar((int) type, what);
    }

    private String scalar(int type, String what) throws IOException {
        ByteBuffer in = bytes.next(SIZES.get(type), what);
        return switch (type) {
            case 0 -> String.valueOf(in.get() & 0xff);
            case 1 -> String.valueOf(in.get());
            case 2 -> String.valueOf(in.getShort() & 0xffff);
            case 3 -> String.valueOf(in.getShort());
            case UINT32 -> Integer.toUnsignedString(in.getInt());
            case 5 -> String.valueOf(in.getInt());
            case 6 -> String.valueOf(in.getFloat());
            case BOOL -> flag(in.get(), what);
            case 10 -> Long.toUnsignedString(in.getLong());
            case 11 -> String.valueOf(in.getLong());
            default -> String.valueOf(in.getDouble());
        };
    }

    private String flag(byte value, String what) {
        if (value != 0 && value != 1) {
            throw bytes.malformed(what + " must be 0 or 1, as a boolean, was " + (value & 0xff));
        }
        return String.valueOf(value == 1);
    }

    private String text(String what) throws IOException {
        long length = bytes.u63("the length of " + what);
        bytes.requireRoomFor(length, 1, what);
        int kept = (int) Math.min(length, MOST_TEXT);
        String text = new String(bytes.bytes(kept, what), StandardCharsets.UTF_8);
        bytes.skip(length - kept, what);
        return kept < length ? text + "... (" + length + " bytes)" : text;
    }

    private String array(String what, int depth) throws IOException {
        if (depth == MOST_DEPTH) {
            throw bytes.malformed(what + " has arrays in arrays, more than " + MOST_DEPTH + " deep");
        }
        long type = bytes.u32("the type of the elements of " + what);
        long count = bytes.u63("the number of elements of " + what);
        if (type >= SIZES.size()) {
            throw bytes.malformed(what + " has elements of the unknown type " + type);
        }
        int size = SIZES.get((int) type);
        bytes.requireRoomFor(count, size > 0 ? size : Long.BYTES, "elements of " + what);
        StringJoiner text = new StringJoiner(", ", "[", "]");
        long shown = Math.min(count, MOST_SHOWN);
        for (long i = 0; i < shown; i++) {
            text.add(value(type, what, depth + 1));
        }
        if (shown < count) {
            text.add("... (" + count + " elements)");
            skip(type, count - shown, what, depth);
        }
        return text.toString();
    }

    private void skip(long type, long count, String what, int depth) throws IOException {
        int size = SIZES.get((int) type);
        if (size > 0) {
            bytes.skip(count * size, what); // checked before
            return;
        }
        for (long i = 0; i < count; i++) {
            if (type == STRING) {
                bytes.skip(bytes.u63("the length of " + what), what);
            } else {
                array(what, depth + 1);
            }
        }
    }
}
