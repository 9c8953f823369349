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

/** Parses a part of a {@link SafetensorsHeader}: whole arrays, in one pass over the bytes. */
final class SafetensorsPart implements Runnable {

    static final int ARRAY_BYTES = 64; // about as many describe an array

    private static final int MOST_DIGITS = 18; // of a number that fits a long whatever the digits are
    private static final String METADATA = "__metadata__";
    private static final byte[] TYPE = "{\"dtype\":".getBytes(StandardCharsets.US_ASCII);
    private static final byte[] SHAPE = ",\"shape\":[".getBytes(StandardCharsets.US_ASCII);
    private static final byte[] OFFSETS = "],\"data_offsets\":[".getBytes(StandardCharsets.US_ASCII);
    private static final byte[] END = "]}".getBytes(StandardCharsets.US_ASCII);

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

    @SuppressWarnings("UnusedVariable") // so that no computation is optimized away
    private int hashes;

    private boolean canonical = true; // until something is written in another way

    /**
     * Takes the part of a header from one offset to another.
     *
     * @param start where the data start in the file
     */
    SafetensorsPart(Path path, byte[] json, long start, int from, int to) {
        this.path = path;
        this.json = json;
        this.start = start;
        this.to = to;
        arrays = new ArrayList<>((to - from) / ARRAY_BYTES);
        at = from;
    }

    /** Returns whether the part is written as the reference implementation writes it. */
    boolean isCanonical() {
        return canonical;
    }

    Map<String, String> attributes() {
        return attributes;
    }

    List<Array> arrays() {
        return arrays;
    }

    /** Returns where the data of the first array start. */
    long dataStart() {
        return dataStart;
    }

    /** Returns where the data of the last array end. */
    long dataEnd() {
        return dataEnd;
    }

    @Override
    public void run() {
        try {
            boolean more = at < to || at > 1; // only a whole header may be empty
            while (more && canonical) {
                boolean first = at == 1;
                String name = string();
                expect(':');
                if (name.equals(METADATA)) {
                    require(first);
                    readAttributes();
                } else {
                    arrays.add(array(name));
                }
                more = at < to && accept(',');
            }
            require(at == to);
            // A string keeps its hash, which the set of all names needs: here it is computed in parallel. Right behind
            // the constructor of each string it took longer than the rest of the parsing of a name (Xeon, AVX-512).
            for (Array array : arrays) {
                hashes += array.name().hashCode();
            }
        } catch (IllegalArgumentException e) { // a shape of another size
            canonical = false;
        }
    }

    private void readAttributes() {
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
                new Extent(path, start + begin, end - begin));
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
