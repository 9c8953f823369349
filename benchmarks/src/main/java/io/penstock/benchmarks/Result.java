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
        return String.format(
                Locale.ROOT,
                "| %s | %s | %s | %s-%s | %s %s %s | %s | %s |",
                row,
                mode,
                number(ratio),
                number(low),
                number(high),
                atLeast ? "≥" : "≤",
                number(goal),
                unit,
                isReached() ? "yes" : "**no**",
                detail + (busy ? "; busy machine" : ""));
    }

    String toJson() {
        return String.format(
                Locale.ROOT,
                "{\"row\": \"%s\", \"mode\": \"%s\", \"ratio\": %s, \"low\": %s, \"high\": %s, \"goal\": %s, "
                        + "\"unit\": \"%s\", \"better\": \"%s\", \"reached\": %s, \"busy\": %s, \"detail\": \"%s\"}",
                row,
                mode,
                number(ratio),
                number(low),
                number(high),
                number(goal),
                unit,
                atLeast ? "more" : "less",
                isReached(),
                busy,
                detail);
    }

    private static String number(double value) {
        String pattern = Math.abs(value) >= 100 ? "%.0f" : Math.abs(value) >= 10 ? "%.1f" : "%.2f";
        return String.format(Locale.ROOT, pattern, value);
    }
}
