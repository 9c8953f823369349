// SPDX-License-Identifier: Apache-2.0
package io.penstock.cli;

import java.math.BigDecimal;
import java.math.RoundingMode;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** An object of JSON, whose fields keep their order. */
final class JsonText {

    private final Map<String, @Nullable Object> fields = new LinkedHashMap<>();

    /** Adds a text, a number, a boolean, an object, a map of texts, a list of them, or null. */
    JsonText with(String name, @Nullable Object value) {
        fields.put(name, value);
        return this;
    }

    /** Adds a number with so many digits behind its point; null if there is none. */
    JsonText with(String name, double value, int digits) {
        boolean known = Double.isFinite(value);
        return with(name, known ? BigDecimal.valueOf(value).setScale(digits, RoundingMode.HALF_UP) : null);
    }

    private static String of(@Nullable Object value) {
        if (value instanceof List<?> list) {
            return list.stream().map(JsonText::of).collect(Collectors.joining(", ", "[", "]"));
        }
        if (value instanceof Map<?, ?> texts) {
            JsonText json = new JsonText();
            texts.forEach((name, text) -> json.with(String.valueOf(name), text));
            return json.toString();
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

    /** Returns it on lines of their own for its fields, and for each object of a list. */
    String lines() {
        return fields.entrySet().stream()
                .map(field -> quoted(field.getKey()) + ": " + lines(field.getValue()))
                .collect(Collectors.joining(",\n", "{\n", "\n}"));
    }

    private static String lines(@Nullable Object value) {
        return value instanceof List<?> list && list.stream().anyMatch(JsonText.class::isInstance)
                ? list.stream().map(JsonText::of).collect(Collectors.joining(",\n  ", "[\n  ", "\n]"))
                : of(value);
    }

    /** Returns it on one line. */
    @Override
    public String toString() {
        return fields.entrySet().stream()
                .map(field -> quoted(field.getKey()) + ": " + of(field.getValue()))
                .collect(Collectors.joining(", ", "{", "}"));
    }
}
