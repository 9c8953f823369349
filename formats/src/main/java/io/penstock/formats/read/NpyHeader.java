// SPDX-License-Identifier: Apache-2.0
package io.penstock.formats.read;

import io.penstock.formats.Array;
import io.penstock.formats.ElementType;
import io.penstock.formats.MalformedFileException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * The header of an array in NumPy's format, versions 1 to 3 ({@code numpy/lib/format.py}): magic number, version,
 * length, and a Python dictionary.
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
        RuntimeException unsupported(String complaint);
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
        Dictionary dictionary = Dictionary.parse(source, text);
        String descr = dictionary.descr();
        List<Long> shape = new ArrayList<>(dictionary.shape());
        Array.Order order = dictionary.fortranOrder() ? Array.Order.COLUMN_MAJOR : Array.Order.ROW_MAJOR;
        int all = start.length + lengthBytes + (int) length;
        if (NpyTypes.isEmpty(descr)) { // texts of no bytes are bytes in a dimension of none
            shape.add(order == Array.Order.ROW_MAJOR ? shape.size() : 0, 0L);
            return new NpyHeader(ElementType.U8, ByteOrder.LITTLE_ENDIAN, order, shape, all);
        }
        try {
            return new NpyHeader(NpyTypes.type(descr), NpyTypes.byteOrder(descr), order, shape, all);
        } catch (IllegalArgumentException e) {
            throw source.unsupported(String.valueOf(e.getMessage()));
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

    /** The literal of a Python dictionary in NumPy's header: three keys, of a string, a boolean and a tuple. */
    private record Dictionary(String descr, boolean fortranOrder, List<Long> shape) {

        private static final int MOST_DIMENSIONS = 64; // NPY_MAXDIMS of NumPy 2

        private static final int MOST_SHOWN = 24; // characters

        /** A place in the text. */
        private static final class Scanner {

            private final NpyHeader.Source source;
            private final String text;
            private int at;

            Scanner(NpyHeader.Source source, String text) {
                this.source = source;
                this.text = text;
            }

            /** Skips white space and then {@code c}, if that follows. */
            boolean skip(char c) {
                while (at < text.length() && " \t\n\f\r".indexOf(text.charAt(at)) >= 0) { // as of Python
                    at++;
                }
                boolean follows = at < text.length() && text.charAt(at) == c;
                at += follows ? 1 : 0;
                return follows;
            }

            void expect(char c) {
                if (!skip(c)) {
                    throw malformed("expected " + c);
                }
            }

            String string() {
                if (!skip('u')) { // as Python 2 wrote it
                    skip('U');
                }
                char quote = skip('\'') ? '\'' : '"';
                if (quote == '"') {
                    expect('"');
                }
                int end = text.indexOf(quote, at);
                if (end < 0 || text.substring(at, end).indexOf('\\') >= 0) {
                    throw malformed("a string must end, and have no escapes");
                }
                String string = text.substring(at, end);
                at = end + 1;
                return string;
            }

            boolean bool() {
                skip(' ');
                for (String word : new String[] {"True", "False"}) {
                    if (text.startsWith(word, at)) {
                        at += word.length();
                        return word.equals("True");
                    }
                }
                throw malformed("expected True or False");
            }

            List<Long> tuple() {
                if (!skip('(')) {
                    throw malformed("expected ( where the shape starts");
                }
                List<Long> numbers = new ArrayList<>();
                boolean comma = true;
                while (!skip(')')) {
                    if (!comma || numbers.size() == MOST_DIMENSIONS) {
                        throw malformed("a shape must be a tuple of at most " + MOST_DIMENSIONS + " numbers");
                    }
                    numbers.add(number());
                    comma = skip(',');
                }
                if (numbers.size() == 1 && !comma) {
                    throw malformed("a tuple of one number must have a comma");
                }
                return numbers;
            }

            private long number() {
                skip(' ');
                int start = at;
                while (at < text.length() && text.charAt(at) >= '0' && text.charAt(at) <= '9') {
                    at++;
                }
                try {
                    long number = Long.parseLong(text.substring(start, at));
                    skip('L'); // as Python 2 wrote it
                    return number;
                } catch (NumberFormatException e) { // none, or too long
                    String found = text.substring(start, Math.min(text.length(), start + MOST_SHOWN));
                    throw malformed("expected a whole number that a file can hold, not " + found.strip());
                }
            }

            MalformedFileException malformed(String complaint) {
                return source.malformed(complaint + place());
            }

            RuntimeException unsupported(String complaint) {
                return source.unsupported(complaint + place());
            }

            private String place() {
                return " (at character " + at + " of its dictionary)";
            }
        }

        /** Parses it; what follows it must be white space. */
        static Dictionary parse(NpyHeader.Source source, String text) {
            Scanner scanner = new Scanner(source, text);
            Map<String, Object> values = new LinkedHashMap<>();
            scanner.expect('{');
            boolean comma = true;
            while (!scanner.skip('}')) {
                if (!comma) {
                    throw scanner.malformed("expected a comma");
                }
                String key = scanner.string();
                scanner.expect(':');
                Object value = switch (key) {
                    case "descr" -> descr(scanner);
                    case "fortran_order" -> scanner.bool();
                    case "shape" -> scanner.tuple();
                    default -> throw scanner.malformed("unknown key " + key);
                };
                if (values.put(key, value) != null) {
                    throw scanner.malformed("it has the key " + key + " twice");
                }
                comma = scanner.skip(',');
            }
            scanner.skip('\n');
            if (scanner.at < text.length()) {
                throw scanner.malformed("there is more after the end of the dictionary");
            }
            if (!values.keySet().equals(Set.of("descr", "fortran_order", "shape"))) {
                throw source.malformed(
                        "its dictionary must have descr, fortran_order and shape, had " + values.keySet());
            }
            return of(values);
        }

        @SuppressWarnings("unchecked")
        private static Dictionary of(Map<String, Object> values) {
            return new Dictionary(
                    String.valueOf(values.get("descr")), Boolean.TRUE.equals(values.get("fortran_order")), (List<Long>)
                            values.getOrDefault("shape", List.of()));
        }

        private static String descr(Scanner scanner) {
            if (scanner.skip('[')) {
                throw scanner.unsupported("arrays of structures are not supported");
            }
            if (scanner.skip('(')) {
                throw scanner.unsupported("types with a shape of their own are not supported");
            }
            return scanner.string();
        }
    }
}
