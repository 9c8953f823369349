// SPDX-License-Identifier: Apache-2.0
package io.penstock.formats;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** The literal of a Python dictionary in NumPy's header: three keys, of a string, a boolean and a tuple. */
record NpyDictionary(String descr, boolean fortranOrder, List<Long> shape) {

    private static final int MOST_DIMENSIONS = 64; // NPY_MAXDIMS of NumPy 2

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
            while (at < text.length() && Character.isWhitespace(text.charAt(at))) {
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
            if (at == start || at - start > 19) {
                throw malformed("expected a whole number that a file can hold");
            }
            long number;
            try {
                number = Long.parseLong(text.substring(start, at));
            } catch (NumberFormatException e) {
                throw malformed("expected a whole number that a file can hold");
            }
            skip('L'); // as Python 2 wrote it
            return number;
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
    static NpyDictionary parse(NpyHeader.Source source, String text) {
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
        if (!text.substring(scanner.at).isBlank()) {
            throw scanner.malformed("there is more after the end of the dictionary");
        }
        if (!values.keySet().equals(Set.of("descr", "fortran_order", "shape"))) {
            throw source.malformed("its dictionary must have descr, fortran_order and shape, had " + values.keySet());
        }
        return of(values);
    }

    @SuppressWarnings("unchecked")
    private static NpyDictionary of(Map<String, Object> values) {
        return new NpyDictionary(
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
