// SPDX-License-Identifier: Apache-2.0
package io.penstock.cli;

import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/** Rows of text in columns; columns of numbers are aligned to the right. */
public final class TextTable {

    private static final String GAP = "  ";
    private static final Pattern COLOUR = Pattern.compile("\u001b\\[[0-9;]*m");
    private static final Pattern LABEL = Pattern.compile(" *(?:\\S+ {2,})?");

    private final Set<Integer> numbers;
    private final List<List<String>> rows = new ArrayList<>();

    /**
     * Creates a table.
     *
     * @param numbers the columns that are numbers, from 0
     */
    TextTable(Set<Integer> numbers, String... heading) {
        this.numbers = Set.copyOf(numbers);
        row(heading);
    }

    void row(String... cells) {
        rows.add(List.of(cells));
    }

    void print(PrintWriter out) {
        int[] widths = new int[rows.get(0).size()];
        for (List<String> row : rows) {
            for (int i = 0; i < widths.length; i++) {
                widths[i] = Math.max(widths[i], row.get(i).length());
            }
        }
        for (List<String> row : rows) {
            StringBuilder line = new StringBuilder();
            for (int i = 0; i < widths.length; i++) {
                String space = " ".repeat(widths[i] - row.get(i).length());
                line.append(i == 0 ? "" : GAP).append(numbers.contains(i) ? space + row.get(i) : row.get(i) + space);
            }
            out.println(line.toString().stripTrailing());
        }
    }

    /** Breaks a line between words; what follows is indented as the text behind the line's label. */
    static String wrapped(String line, int columns) {
        Matcher label = LABEL.matcher(COLOUR.matcher(line).replaceAll(""));
        int indent = label.lookingAt() ? label.end() : 0;
        StringBuilder text = new StringBuilder();
        int at = 0;
        for (String word : line.split("(?<= )(?=[^ ])")) { // with the blanks behind it
            if (at > indent && at + width(word.stripTrailing()) > columns) {
                text.append(System.lineSeparator()).append(" ".repeat(indent));
                at = indent;
            }
            text.append(word);
            at += width(word);
        }
        return text.toString().replaceAll(" +(?=\\R)", "");
    }

    private static int width(String text) {
        return COLOUR.matcher(text).replaceAll("").length();
    }

    /** Returns text on the lines that it has, without characters that a terminal would act on. */
    static String plainLines(String text) {
        return text.lines().map(TextTable::plain).collect(Collectors.joining(System.lineSeparator()));
    }

    /** Returns text on one line, without characters that a terminal would act on. */
    public static String plain(String text) {
        return text.codePoints()
                .map(c -> Character.isISOControl(c) ? '?' : c)
                .collect(StringBuilder::new, StringBuilder::appendCodePoint, StringBuilder::append)
                .toString();
    }
}
