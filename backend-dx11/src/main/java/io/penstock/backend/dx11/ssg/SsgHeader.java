// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.dx11.ssg;

import io.penstock.Options;
import io.penstock.backend.dx11.Dx11Options;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The constants of AMD's header that its manual does not print, as copied by the user: words of the form NAME=NUMBER.
 * The words of a structure are its fields in order, with their sizes in bytes, aligned as in C; an unused field
 * reserves its space.
 */
final class SsgHeader {

    private static final List<String> NEEDED = List.of(
            "interface",
            "read", // this and the next: modes of opening a file
            "write",
            "handle", // of files and events
            "version.major",
            "version.minor",
            "version.build",
            "info.file",
            "info.block",
            "region.file",
            "region.buffer",
            "region.size");

    private static final int MOST_BYTES = 256; // of an unused field

    /** A field of a structure: where it starts, and its 4 or 8 bytes. */
    record Field(int at, int width) {

        /** Returns true if an unsigned number fits into it. */
        boolean holds(long value) {
            return width == Long.BYTES ? value >= 0 : value >>> Integer.SIZE == 0;
        }

        /** Returns its unsigned value in the structure at {@code start}. */
        long get(ByteBuffer memory, int start) {
            return width == Long.BYTES ? memory.getLong(start + at) : Integer.toUnsignedLong(memory.getInt(start + at));
        }

        /** Like {@link #get(ByteBuffer, int)}, from an array that a call has filled. */
        long get(byte[] memory) {
            return get(ByteBuffer.wrap(memory).order(ByteOrder.nativeOrder()), 0);
        }

        void put(ByteBuffer memory, int start, long value) {
            if (width == Long.BYTES) {
                memory.putLong(start + at, value);
            } else {
                memory.putInt(start + at, (int) value);
            }
        }
    }

    private final Map<String, Integer> words; // in their order
    private final Field fileOffset;
    private final Field fileBytes;

    private SsgHeader(Map<String, Integer> words) {
        this.words = words;
        this.fileOffset = field("region", "file");
        this.fileBytes = field("info", "file");
    }

    /**
     * Parses {@link Dx11Options#SSG_HEADER}.
     *
     * @throws IllegalArgumentException with what is wrong or missing
     */
    static SsgHeader of(Options options) {
        Map<String, Integer> words = new LinkedHashMap<>();
        for (String word : options.get(Dx11Options.SSG_HEADER).strip().split("\\s+")) {
            String[] sides = word.split("=", 2);
            long number = parse(sides.length < 2 ? "" : sides[1]);
            if (!fits(sides[0], number) || words.put(sides[0], (int) number) != null) {
                throw wrong(
                        options, "'" + word + "' must be NAME=NUMBER, with a number of 32 bits, or 4 or 8 for a field");
            }
        }
        List<String> missing =
                NEEDED.stream().filter(name -> !words.containsKey(name)).toList();
        if (!missing.isEmpty()) {
            throw wrong(options, "it lacks " + missing);
        }
        return new SsgHeader(words);
    }

    /** Returns a number of 32 bits, or -1. */
    private static long parse(String text) {
        try {
            long number = Long.decode(text);
            return number >>> Integer.SIZE == 0 ? number : -1;
        } catch (NumberFormatException e) {
            return -1;
        }
    }

    private static boolean fits(String name, long number) {
        if (name.contains(".") && !NEEDED.contains(name)) {
            return number > 0 && number <= MOST_BYTES;
        }
        boolean isField = name.contains(".") || name.equals("handle");
        return NEEDED.contains(name) && (isField ? number == Integer.BYTES || number == Long.BYTES : number >= 0);
    }

    private static IllegalArgumentException wrong(Options options, String why) {
        return new IllegalArgumentException(options.source(Dx11Options.SSG_HEADER) + " sets " + Dx11Options.SSG_HEADER
                + "=" + options.get(Dx11Options.SSG_HEADER) + ", but " + why);
    }

    /** Returns the value of a required name. */
    int number(String name) {
        return words.getOrDefault(name, 0);
    }

    /** Returns the handle of a file or event, as a field on its own. */
    Field handle() {
        return new Field(0, number("handle"));
    }

    /** Returns a required field. */
    Field field(String structure, String name) {
        int width = number(structure + "." + name);
        return new Field(end(structure, name) - width, width);
    }

    /** Returns the size of a structure in bytes, with the padding behind its last field. */
    int bytes(String structure) {
        return end(structure, "");
    }

    /** Returns the end of a field or, if it is not found, of the structure. */
    private int end(String structure, String field) {
        int end = 0;
        int widest = 1;
        for (Map.Entry<String, Integer> word : words.entrySet()) {
            if (word.getKey().startsWith(structure + ".")) {
                int width = word.getValue();
                int alignment = width == Integer.BYTES || width == Long.BYTES ? width : 1;
                end = align(end, alignment) + width;
                widest = Math.max(widest, alignment);
                if (word.getKey().equals(structure + "." + field)) {
                    return end;
                }
            }
        }
        return align(end, widest);
    }

    private static int align(int bytes, int alignment) {
        return (bytes + alignment - 1) & -alignment;
    }

    /**
     * Returns why a region with that end in its file, or such a file, cannot be passed to the driver; otherwise an
     * empty string.
     */
    String refusal(long fileEnd) {
        return fileOffset.holds(fileEnd) ? sizeRefusal(fileEnd) : tooLarge("file offsets", fileEnd);
    }

    /** Returns why the driver cannot report such a file length, or an empty string. */
    String sizeRefusal(long bytes) {
        return fileBytes.holds(bytes) ? "" : tooLarge("lengths of files", bytes);
    }

    private static String tooLarge(String what, long value) {
        return Dx11Options.SSG_HEADER + " has " + what + " of 32 bits, and " + value + " is beyond";
    }
}
