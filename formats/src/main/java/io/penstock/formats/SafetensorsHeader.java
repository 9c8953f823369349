// SPDX-License-Identifier: Apache-2.0
package io.penstock.formats;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Reads a header as the reference implementation writes it, in one pass over the bytes: ASCII without escapes and blanks,
 * the members of an array in their order, and {@code __metadata__} first. Every other header, valid or not, is left to
 * {@link StrictJson}, which has all complaints. Not thread-safe.
 */
final class SafetensorsHeader {

    private static final int MOST_DIGITS = 18; // of a number that fits a long whatever the digits are
    private static final int ARRAY_BYTES = 64; // about as many describe an array

    private static final byte[] TYPE = "{\"dtype\":".getBytes(StandardCharsets.US_ASCII);
    private static final byte[] SHAPE = ",\"shape\":[".getBytes(StandardCharsets.US_ASCII);
    private static final byte[] OFFSETS = "],\"data_offsets\":[".getBytes(StandardCharsets.US_ASCII);
    private static final byte[] END = "]}".getBytes(StandardCharsets.US_ASCII);

    private final byte[] json;
    private int at;
    private boolean canonical = true; // until something is written in another way

    SafetensorsHeader(byte[] json) {
        this.json = json;
    }

    /** Returns the arrays, or null if the header is written in another way; {@code attributes} can have changed then too. */
    @Nullable
    List<SafetensorsReader.Entry> entries(Map<String, String> attributes) {
        List<SafetensorsReader.Entry> entries = new ArrayList<>();
        Set<String> names = new HashSet<>(json.length / ARRAY_BYTES);
        expect('{');
        for (boolean more = !accept('}'); more && canonical; more = more()) {
            String name = string();
            expect(':');
            require(names.add(name));
            if (!name.equals("__metadata__")) {
                entries.add(entry(name));
            } else {
                require(names.size() == 1);
                attributes(attributes);
            }
        }
        while (accept(' ')) {} // up to a multiple of 8 bytes
        return canonical && at == json.length ? entries : null;
    }

    private void attributes(Map<String, String> attributes) {
        expect('{');
        for (boolean more = !accept('}'); more && canonical; more = more()) {
            String key = string();
            expect(':');
            require(attributes.put(key, string()) == null);
        }
    }

    /** Returns whether there is another member; otherwise the object has ended. */
    private boolean more() {
        boolean more = accept(',');
        if (!more) {
            expect('}');
        }
        return more;
    }

    private SafetensorsReader.Entry entry(String name) {
        expect(TYPE);
        ElementType type = SafetensorsReader.TYPES.get(string());
        expect(SHAPE);
        List<Long> shape = at < json.length && json[at] == ']' ? List.of() : numbers();
        expect(OFFSETS);
        long begin = number();
        expect(',');
        long end = number();
        expect(END);
        require(type != null);
        return new SafetensorsReader.Entry(name, type == null ? ElementType.U8 : type, shape, begin, end);
    }

    private List<Long> numbers() {
        long first = number();
        if (!accept(',')) {
            return List.of(first);
        }
        List<Long> numbers = new ArrayList<>();
        numbers.add(first);
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
        for (byte b : next) {
            if (at == json.length || json[at] != b) {
                canonical = false;
                return;
            }
            at++;
        }
    }
}
