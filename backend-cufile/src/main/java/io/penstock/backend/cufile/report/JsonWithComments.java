// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.cufile.report;

import java.util.Map;
import java.util.TreeMap;

/**
 * Reads JSON as NVIDIA writes it: with {@code //} comments and stray commas. Objects become dotted names,
 * {@code properties.allow_compat_mode}; every value is its literal text.
 */
final class JsonWithComments {

    private final String text;
    private final Map<String, String> values = new TreeMap<>();
    private int at;

    private JsonWithComments(String text) {
        this.text = text;
    }

    /**
     * Reads an object.
     *
     * @throws IllegalArgumentException with the line that cannot be read
     */
    static Map<String, String> read(String text) {
        JsonWithComments json = new JsonWithComments(text);
        json.object("");
        json.skip();
        if (json.at != text.length()) {
            throw json.wrong("the end");
        }
        return json.values;
    }

    private void object(String prefix) {
        expect('{');
        while (next() != '}') {
            String name = prefix + string();
            expect(':');
            if (next() == '{') {
                object(name + ".");
            } else {
                values.put(name, next() == '[' ? array() : scalar());
            }
            if (next() == ',') {
                at++;
            } else if (next() != '}') {
                throw wrong("a comma or }");
            }
        }
        at++;
    }

    private String array() {
        expect('[');
        StringBuilder items = new StringBuilder();
        while (next() != ']') {
            if (next() == '{') {
                // Lists of objects are rules for mounts and networks; kept as literal text.
                items.append(skipObject());
            } else {
                items.append(next() == '[' ? array() : scalar());
            }
            if (next() == ',') {
                at++;
                items.append(next() == ']' ? "" : ", ");
            }
        }
        at++;
        return "[" + items + "]";
    }

    private String skipObject() {
        int begin = at;
        JsonWithComments inner = new JsonWithComments(text);
        inner.at = at;
        inner.object("");
        at = inner.at;
        return text.substring(begin, at).replaceAll("\\s+", " ");
    }

    private String scalar() {
        if (next() == '"') {
            return string();
        }
        int begin = at;
        while (at < text.length() && ",]}/".indexOf(text.charAt(at)) < 0 && !Character.isWhitespace(text.charAt(at))) {
            at++;
        }
        if (begin == at) {
            throw wrong("a value");
        }
        return text.substring(begin, at);
    }

    private String string() {
        expect('"');
        StringBuilder string = new StringBuilder();
        while (at < text.length() && text.charAt(at) != '"') {
            if (text.charAt(at) == '\\' && at + 1 < text.length()) {
                at++; // for paths and addresses the literal character suffices
            }
            string.append(text.charAt(at++));
        }
        expect('"');
        return string.toString();
    }

    private void expect(char wanted) {
        if (next() != wanted) {
            throw wrong(String.valueOf(wanted));
        }
        at++;
    }

    /** Returns the next character that is neither space nor comment, or 0 at the end. */
    private char next() {
        skip();
        return at < text.length() ? text.charAt(at) : 0;
    }

    private void skip() {
        while (at < text.length()) {
            if (Character.isWhitespace(text.charAt(at))) {
                at++;
            } else if (text.startsWith("//", at)) {
                int end = text.indexOf('\n', at);
                at = end < 0 ? text.length() : end;
            } else if (text.startsWith("/*", at)) {
                int end = text.indexOf("*/", at + 2);
                at = end < 0 ? text.length() : end + 2;
            } else {
                return;
            }
        }
    }

    private IllegalArgumentException wrong(String wanted) {
        long line = text.substring(0, Math.min(at, text.length())).lines().count();
        return new IllegalArgumentException("line " + Math.max(1, line) + ": " + wanted + " is missing");
    }
}
