// SPDX-License-Identifier: Apache-2.0
package io.penstock.benchmarks;

import java.util.Arrays;
import java.util.Locale;

/**
 * A line of the report.
 *
 * @param ratio the median over the pairs
 * @param low the least of them
 * @param high the most of them
 * @param atLeast true if the goal is a lower bound
 * @param detail both rates and processors, as text
 * @param busy true if the machine was busy when the row began
 */
record Result(
        String row,
        String mode,
        double ratio,
        double low,
        double high,
        double goal,
        boolean atLeast,
        String unit,
        String detail,
        boolean busy) {

    static Result of(Comparison what, double[] values, String detail, boolean busy) {
        return of(what.row(), what.mode(), values, what.goal(), what.kind().atLeast, what.kind().unit, detail, busy);
    }

    @SuppressWarnings("TooManyParameters") // the same as the record's, with values for three of them
    static Result of(
            String row,
            String mode,
            double[] values,
            double goal,
            boolean atLeast,
            String unit,
            String detail,
            boolean busy) {
        double[] sorted = values.clone();
        Arrays.sort(sorted);
        double low = sorted[0];
        double high = sorted[sorted.length - 1];
        return new Result(row, mode, median(sorted), low, high, goal, atLeast, unit, detail, busy);
    }

    static double median(double[] values) {
        double[] sorted = values.clone();
        Arrays.sort(sorted);
        int half = sorted.length / 2;
        return sorted.length % 2 == 1 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
    }

    boolean isReached() {
        return atLeast ? ratio >= goal : ratio <= goal;
    }

    /** Returns a row of a Markdown table. */
    String toMarkdown() {
        return format("| %1$s | %2$s | %3$s | %4$s-%5$s | " + (atLeast ? "≥" : "≤") + " %6$s %7$s | "
                + (isReached() ? "yes" : "**no**") + " | %8$s" + (busy ? "; busy machine" : "") + " |");
    }

    String toJson() {
        return format("{\"row\": \"%1$s\", \"mode\": \"%2$s\", \"ratio\": %3$s, \"low\": %4$s, \"high\": %5$s, "
                + "\"goal\": %6$s, \"unit\": \"%7$s\", \"better\": \"" + (atLeast ? "more" : "less")
                + "\", \"reached\": "
                + isReached() + ", \"busy\": " + busy + ", \"detail\": \"%8$s\"}");
    }

    private String format(String line) {
        Object[] cells = {row, mode, number(ratio), number(low), number(high), number(goal), unit, detail};
        return String.format(Locale.ROOT, line, cells);
    }

    private static String number(double value) {
        String pattern = Math.abs(value) >= 100 ? "%.0f" : Math.abs(value) >= 10 ? "%.1f" : "%.2f";
        return String.format(Locale.ROOT, pattern, value);
    }
}
