// SPDX-License-Identifier: Apache-2.0
package io.penstock.benchmarks;

import java.util.List;
import java.util.Locale;
import java.util.function.ToDoubleFunction;

/** How long single operations took: percentiles, in microseconds. */
record Latency(double p50, double p99, double p999) {

    /** The head of the table of {@link #toMarkdown}. */
    static final String HEAD = "| row | contender | p50, us | p99, us | p99.9, us |\n|---|---|---|---|---|\n";

    /** Returns the median of each percentile. */
    static Latency median(List<Latency> runs) {
        return new Latency(median(runs, Latency::p50), median(runs, Latency::p99), median(runs, Latency::p999));
    }

    private static double median(List<Latency> runs, ToDoubleFunction<Latency> percentile) {
        return Result.median(runs.stream().mapToDouble(percentile).toArray());
    }

    /** The latency of a contender of a row. */
    record Of(String row, String contender, Latency latency) {

        /** Returns a row of a Markdown table. */
        String toMarkdown() {
            return format("| %s | %s | %s | %s | %s |");
        }

        String toJson() {
            return format(
                    "{\"row\": \"%s\", \"contender\": \"%s\", \"p50\": %s, \"p99\": %s, \"p99.9\": %s, \"unit\": \"us\"}");
        }

        private String format(String line) {
            return String.format(
                    Locale.ROOT,
                    line,
                    row,
                    contender,
                    Unit.number(latency.p50),
                    Unit.number(latency.p99),
                    Unit.number(latency.p999));
        }
    }
}
