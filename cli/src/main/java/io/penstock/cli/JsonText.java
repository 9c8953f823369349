// SPDX-License-Identifier: Apache-2.0
package io.penstock.cli;

import java.util.List;
import java.util.Map;
import java.util.StringJoiner;
import java.util.stream.Collectors;

/** An object of JSON, on one line. */
final class JsonText {

    private final StringJoiner fields = new StringJoiner(", ", "{", "}");

    /** Adds a text, a number, a boolean, an object, or a list of them. */
    JsonText with(String name, Object value) {
        fields.add(quoted(name) + ": " + of(value));
        return this;
    }

    /** Returns an object of texts by their names. */
    static JsonText of(Map<String, String> texts) {
        JsonText json = new JsonText();
        texts.forEach(json::with);
        return json;
    }

    private static String of(Object value) {
        if (value instanceof List<?> list) {
            return list.stream().map(JsonText::of).collect(Collectors.joining(", ", "[", "]"));
        }
        return value instanceof String text ? quoted(text) : String.valueOf(value);
    }

    /** Returns a text as a JSON string, with its quotation marks. */
    static String quoted(String text) {
        StringBuilder json = new StringBuilder("\"");
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (c == '"' || c == '\\') {
                json.append('\\').append(c);
            } else if (c < ' ') {
                json.append(String.format("\\u%04x", (int) c));
            } else {
                json.append(c);
            }
        }
        return json.append('"').toString();
    }

    @Override
    public String toString() {
        return fields.toString();
    }
}
