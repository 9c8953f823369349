// SPDX-License-Identifier: Apache-2.0
package io.penstock.formats;

import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Reads a header as the reference implementation writes it, in one pass over the bytes: ASCII without escapes and blanks,
 * {@code __metadata__} first, the members of an array in their order, and the arrays in the order of their data. Every
 * other header, valid or not, is left to {@link StrictJson} and the checks after it, which have all complaints.
 *
 * <p>A long header is cut into parts of whole arrays, which are parsed in parallel. A cut may be wrong, inside a name;
 * the part before it is then no list of whole arrays, and the header is left to {@link StrictJson}.
 */
final class SafetensorsHeader {

    private static final int MOST_DIGITS = 18; // of a number that fits a long whatever the digits are
    private static final int ARRAY_BYTES = 64; // about as many describe an array
    private static final int PART_BYTES = 1 << 16; // below, another thread costs more than it saves

    private static final String METADATA = "__metadata__";
    private static final int METADATA_HASH = METADATA.hashCode();
    private static final byte[] TYPE = "{\"dtype\":".getBytes(StandardCharsets.US_ASCII);
    private static final byte[] SHAPE = ",\"shape\":[".getBytes(StandardCharsets.US_ASCII);
    private static final byte[] OFFSETS = "],\"data_offsets\":[".getBytes(StandardCharsets.US_ASCII);
    private static final byte[] END = "]}".getBytes(StandardCharsets.US_ASCII);
    private static final byte[] CUT = "]},\"".getBytes(StandardCharsets.US_ASCII); // from one array to the next

    private final Path path;
    private final byte[] json;
    private final long start;
    private final int to;
    private final Map<String, String> attributes = new LinkedHashMap<>();
    private final List<Array> arrays;
    private int at;
    private long dataStart; // of the first array
    private long dataEnd; // of the last array
    private ElementType type = ElementType.U8; // of the last array, as are the next three
    private List<Long> shape = List.of();
    private int describedFrom;
    private int describedTo; // 0 before the first array
    private boolean canonical = true; // until something is written in another way

    /** Takes the part of a header from one offset to another. */
    private SafetensorsHeader(Path path, byte[] json, long start, int from, int to) {
        this.path = path;
        this.json = json;
        this.start = start;
        this.to = to;
        arrays = new ArrayList<>((to - from) / ARRAY_BYTES);
        at = from;
    }

    /**
     * Returns the file if its header is written in this way, and its arrays fill {@code dataBytes} bytes; else null.
     *
     * @param start where the data start in the file
     */
    static @Nullable ArrayFile read(Path path, byte[] json, long start, long dataBytes) {
        return read(path, json, start, dataBytes, PART_BYTES);
    }

    /** Reads a header by parts of about that many bytes. */
    static @Nullable ArrayFile read(Path path, byte[] json, long start, long dataBytes, int partBytes) {
        int end = json.length;
        while (end > 0 && json[end - 1] == ' ') { // up to a multiple of 8 bytes
            end--;
        }
        if (end < 2 || json[0] != '{' || json[end - 1] != '}') {
            return null;
        }
        List<SafetensorsHeader> parts = parts(path, json, start, end - 1, partBytes);
        if (parts.size() > 1) {
            parts.parallelStream().forEach(SafetensorsHeader::parse);
        } else {
            parts.forEach(SafetensorsHeader::parse);
        }
        List<Array> arrays = new ArrayList<>(end / ARRAY_BYTES);
        long dataEnd = 0;
        for (SafetensorsHeader part : parts) {
            if (!part.canonical || !part.arrays.isEmpty() && part.dataStart != dataEnd) {
                return null;
            }
            arrays.addAll(part.arrays);
            dataEnd += part.dataEnd - part.dataStart;
        }
        try {
            return dataEnd == dataBytes
                    ? new ArrayFile(path, SafetensorsReader.FORMAT, parts.get(0).attributes, arrays)
                    : null;
        } catch (IllegalArgumentException e) { // a name that is there twice
            return null;
        }
    }

    private static List<SafetensorsHeader> parts(Path path, byte[] json, long start, int end, int partBytes) {
        List<SafetensorsHeader> parts = new ArrayList<>();
        int from = 1;
        for (int at = from + partBytes; at < end - CUT.length; at++) {
            if (Arrays.equals(json, at, at + CUT.length, CUT, 0, CUT.length)) {
                int comma = at + CUT.length - 2;
                parts.add(new SafetensorsHeader(path, json, start, from, comma));
                from = comma + 1;
                at = from + partBytes;
            }
        }
        parts.add(new SafetensorsHeader(path, json, start, from, end));
        return parts;
    }

    private void parse() {
        try {
            boolean more = at < to || at > 1; // only a whole header may be empty
            while (more && canonical) {
                boolean first = at == 1;
                String name = string();
                expect(':');
                // The string keeps its hash, which ArrayFile needs of each name: computed here, it is computed in
                // parallel.
                if (name.hashCode() == METADATA_HASH && name.equals(METADATA)) {
                    require(first);
                    attributes();
                } else {
                    arrays.add(array(name));
                }
                more = at < to && accept(',');
            }
            require(at == to);
        } catch (IllegalArgumentException e) { // a shape of another size
            canonical = false;
        }
    }

    private void attributes() {
        expect('{');
        for (boolean more = !accept('}'); more && canonical; more = more()) {
            String key = string();
            expect(':');
            require(attributes.put(key, string()) == null);
        }
    }

    /** Returns whether there is another attribute; otherwise their object has ended. */
    private boolean more() {
        boolean more = accept(',');
        if (!more) {
            expect('}');
        }
        return more;
    }

    private Array array(String name) {
        describe();
        long begin = number();
        expect(',');
        long end = number();
        expect(END);
        if (arrays.isEmpty()) {
            dataStart = begin;
        } else {
            require(begin == dataEnd);
        }
        dataEnd = end;
        return new Array(
                name,
                type,
                shape,
                ByteOrder.LITTLE_ENDIAN,
                Array.Order.ROW_MAJOR,
                new Array.Data.Contiguous(new Extent(path, start + begin, end - begin)));
    }

    /** Reads all that is before the offsets. Many arrays are described as the one before, which has been parsed. */
    private void describe() {
        int end = Math.min(at + describedTo - describedFrom, json.length);
        if (describedTo > 0 && Arrays.equals(json, at, end, json, describedFrom, describedTo)) {
            at = end;
            return;
        }
        describedFrom = at;
        expect(TYPE);
        ElementType found = SafetensorsReader.TYPES.get(string());
        require(found != null);
        type = found == null ? ElementType.U8 : found;
        expect(SHAPE);
        shape = at < json.length && json[at] == ']' ? List.of() : numbers();
        expect(OFFSETS);
        describedTo = at;
    }

    private List<Long> numbers() {
        long first = number();
        if (!accept(',')) {
            return List.of(first);
        }
        long second = number();
        if (!accept(',')) {
            return List.of(first, second);
        }
        List<Long> numbers = new ArrayList<>(List.of(first, second));
        do {
            numbers.add(number());
        } while (accept(','));
        return numbers;
    }

    private String string() {
        expect('"');
        int start = at;
        int end = start;
        while (end < json.length && json[end] >= ' ' && json[end] != '"' && json[end] != '\\') {
            end++;
        }
        at = end;
        expect('"');
        return new String(json, start, end - start, StandardCharsets.ISO_8859_1);
    }

    private long number() {
        int start = at;
        int end = start;
        long number = 0;
        while (end < json.length && json[end] >= '0' && json[end] <= '9') {
            number = 10 * number + json[end] - '0';
            end++;
        }
        at = end;
        int digits = end - start;
        require(digits == 1 || digits > 1 && digits <= MOST_DIGITS && json[start] != '0');
        return number;
    }

    private void require(boolean condition) {
        if (!condition) {
            canonical = false;
        }
    }

    private boolean accept(char next) {
        boolean found = at < json.length && json[at] == next;
        at += found ? 1 : 0;
        return found;
    }

    private void expect(char next) {
        require(accept(next));
    }

    private void expect(byte[] next) {
        int end = Math.min(at + next.length, json.length);
        require(Arrays.equals(json, at, end, next, 0, next.length));
        at = end;
    }
}
