// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.dx11;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * How the structures of AMD's interface lie in memory, which its manual does not print: what the user says, from AMD's
 * header.
 *
 * @param handleBytes the width of the handles of files and events
 * @param version {@code AmdDxSsgVersion}: major, minor, build
 * @param info {@code AmdDxSsgFileInfo}: file, block
 * @param region {@code AmdDxSsgRegionDesc}: file, buffer, size
 */
record SsgLayout(int handleBytes, Shape version, Shape info, Shape region) {

    /** What {@link #parse} takes. */
    static final String FORM = "handle=BYTES version=BYTES:major@AT/WIDTH,minor@AT/WIDTH,build@AT/WIDTH"
            + " info=BYTES:file@AT/WIDTH,block@AT/WIDTH region=BYTES:file@AT/WIDTH,buffer@AT/WIDTH,size@AT/WIDTH";

    private static final int MOST_BYTES = 256;

    /** A field: where it starts, and its 4 or 8 bytes. */
    record Field(int at, int width) {

        /** Returns whether a number, without a sign, has room in it. */
        boolean holds(long value) {
            return width == Long.BYTES ? value >= 0 : value >>> Integer.SIZE == 0;
        }
    }

    /** A structure: its bytes, and its fields by name. */
    record Shape(int bytes, Map<String, Field> fields) {

        Field field(String name) {
            Field field = fields.get(name);
            if (field == null) {
                throw new IllegalArgumentException("no field " + name);
            }
            return field;
        }

        /** Returns a field of the structure at {@code start}, without a sign. */
        long get(ByteBuffer memory, int start, String name) {
            Field field = field(name);
            return field.width == Long.BYTES
                    ? memory.getLong(start + field.at)
                    : Integer.toUnsignedLong(memory.getInt(start + field.at));
        }

        /** As {@link #get(ByteBuffer, int, String)}, of a structure that a call has filled. */
        long get(byte[] memory, String name) {
            return get(ByteBuffer.wrap(memory).order(ByteOrder.nativeOrder()), 0, name);
        }

        void put(ByteBuffer memory, int start, Field field, long value) {
            if (field.width == Long.BYTES) {
                memory.putLong(start + field.at, value);
            } else {
                memory.putInt(start + field.at, (int) value);
            }
        }
    }

    /**
     * Reads one.
     *
     * @throws IllegalArgumentException if it is not of the {@link #FORM}; the message says what is wrong
     */
    static SsgLayout parse(String text) {
        Map<String, String> parts = new TreeMap<>();
        for (String part : text.strip().split("\\s+")) {
            String[] sides = part.split("=", 2);
            if (sides.length != 2 || parts.put(sides[0], sides[1]) != null) {
                throw new IllegalArgumentException("'" + part + "' is not of the form " + FORM);
            }
        }
        if (!parts.keySet().equals(new TreeSet<>(List.of("handle", "version", "info", "region")))) {
            throw new IllegalArgumentException("it names " + parts.keySet() + ", and is not of the form " + FORM);
        }
        int handle = number(part(parts, "handle"), "handle");
        if (handle != Integer.BYTES && handle != Long.BYTES) {
            throw new IllegalArgumentException("handles of " + handle + " bytes: they have 4 or 8");
        }
        return new SsgLayout(
                handle,
                shape(part(parts, "version"), "major", "minor", "build"),
                shape(part(parts, "info"), "file", "block"),
                shape(part(parts, "region"), "file", "buffer", "size"));
    }

    private static String part(Map<String, String> parts, String name) {
        return parts.getOrDefault(name, "");
    }

    /** Returns why a region that ends there in its file cannot be told, or an empty string. */
    String refusal(long fileEnd) {
        return region.field("file").holds(fileEnd) ? sizeRefusal(fileEnd) : tooLarge("file offsets", fileEnd);
    }

    /** Returns why the driver cannot tell that a file is so long, or an empty string. */
    String sizeRefusal(long fileBytes) {
        return info.field("file").holds(fileBytes) ? "" : tooLarge("lengths of files", fileBytes);
    }

    private static String tooLarge(String what, long value) {
        return Dx11Options.SSG_LAYOUT + " has " + what + " of 32 bits, and " + value + " is beyond";
    }

    private static Shape shape(String text, String... names) {
        String[] sides = text.split(":", 2);
        int bytes = number(sides[0], text);
        Map<String, Field> fields = new TreeMap<>();
        for (String field : sides.length < 2 ? new String[0] : sides[1].split(",")) {
            String[] parts = field.split("[@/]");
            if (parts.length != 3) {
                throw new IllegalArgumentException("'" + field + "' is not of the form NAME@AT/WIDTH");
            }
            fields.put(parts[0], field(field, number(parts[1], field), number(parts[2], field), bytes));
        }
        if (bytes > MOST_BYTES || !fields.keySet().equals(new TreeSet<>(List.of(names)))) {
            throw new IllegalArgumentException("'" + text + "' is not a structure of " + List.of(names));
        }
        return new Shape(bytes, Map.copyOf(fields));
    }

    private static Field field(String text, int at, int width, int bytes) {
        if ((width != Integer.BYTES && width != Long.BYTES) || at > bytes - width) {
            throw new IllegalArgumentException("'" + text + "': a field has 4 or 8 bytes, within its structure");
        }
        return new Field(at, width);
    }

    private static int number(String text, String where) {
        if (text.isEmpty() || text.length() > 4 || !text.chars().allMatch(Character::isDigit)) {
            throw new IllegalArgumentException("'" + text + "' in '" + where + "' is not a number of bytes");
        }
        return Integer.parseInt(text);
    }
}
