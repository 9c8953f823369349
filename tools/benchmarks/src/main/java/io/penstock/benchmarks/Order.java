// SPDX-License-Identifier: Apache-2.0
package io.penstock.benchmarks;

import io.penstock.FileOption;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * What a contender of a {@link Table} does: a verb, and its words, {@code name=value} or a name alone.
 *
 * @param text with sizes in bytes: {@code 4K}, {@code 16 MiB} and so on are replaced
 */
record Order(String text, String verb, Map<String, String> words) {

    private static final Pattern SIZE = Pattern.compile("(?<==)(\\d+) ?([KMG])(iB)?\\b");

    static Order of(String written) {
        String text = SIZE.matcher(written).replaceAll(Order::bytes).trim();
        String[] parts = text.split(" +");
        Map<String, String> words = new HashMap<>();
        for (int i = 1; i < parts.length; i++) {
            int equals = parts[i].indexOf('=');
            words.put(
                    equals < 0 ? parts[i] : parts[i].substring(0, equals),
                    equals < 0 ? "" : parts[i].substring(equals + 1));
        }
        return new Order(text, parts[0], words);
    }

    private static String bytes(MatchResult size) {
        return Long.toString(Long.parseLong(size.group(1)) << 10 * (1 + "KMG".indexOf(size.group(2))));
    }

    boolean has(String name) {
        return words.containsKey(name);
    }

    /** Returns a word's value, or the other one where the word is absent. */
    String get(String name, String otherwise) {
        return words.getOrDefault(name, otherwise);
    }

    /** Returns the value of a word that must be there. */
    String get(String name) {
        String value = words.get(name);
        if (value == null) {
            throw new IllegalArgumentException("there is no " + name + " in: " + text);
        }
        return value;
    }

    long number(String name) {
        return Long.parseLong(get(name));
    }

    long number(String name, long otherwise) {
        return has(name) ? number(name) : otherwise;
    }

    int count(String name) {
        return Math.toIntExact(number(name));
    }

    /** Returns the constant that a word names in small letters. */
    <E extends Enum<E>> E constant(Class<E> type, String name, E otherwise) {
        return has(name) ? Enum.valueOf(type, get(name).toUpperCase(Locale.ROOT)) : otherwise;
    }

    /** Returns the options of a file to read that are among the words. */
    FileOption[] opened() {
        return Stream.of(FileOption.READ, FileOption.IMMUTABLE, FileOption.DIRECT)
                .filter(option -> option == FileOption.READ || has(option.name().toLowerCase(Locale.ROOT)))
                .toArray(FileOption[]::new);
    }

    Mode mode() {
        return constant(Mode.class, "mode", Mode.DEFAULT);
    }
}
