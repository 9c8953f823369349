// SPDX-License-Identifier: Apache-2.0
package io.penstock.benchmarks;

import java.util.List;
import java.util.Locale;

/**
 * The figures of one contender.
 *
 * @param values of its runs
 * @param cpu the median of its processor time
 */
record Figure(String row, String contender, Unit unit, List<Double> values, double cpu) {

    static Figure of(String row, String contender, Unit unit, List<Measure> measures) {
        List<Double> values = measures.stream().map(unit::of).sorted().toList();
        double cpu = Result.median(measures.stream().mapToDouble(unit::cpuOf).toArray());
        return new Figure(row, contender, unit, values, cpu);
    }

    private double median() {
        return Result.median(values.stream().mapToDouble(Double::doubleValue).toArray());
    }

    /** Returns a row of a Markdown table. */
    String toMarkdown() {
        return format("| %1$s | %2$s | %3$s | %4$s-%5$s | %6$s | %8$s %9$s |");
    }

    String toJson() {
        return format("{\"row\": \"%1$s\", \"contender\": \"%2$s\", \"median\": %3$s, \"low\": %4$s, \"high\": %5$s, "
                + "\"unit\": \"%6$s\", \"runs\": %7$d, \"cpu\": %8$s, \"cpuUnit\": \"%9$s\"}");
    }

    private String format(String line) {
        String low = Unit.number(values.get(0));
        String high = Unit.number(values.get(values.size() - 1));
        Object[] cells = {row, contender, Unit.number(median()), low, high, unit.name, values.size(), Unit.number(cpu)};
        return String.format(Locale.ROOT, line.replace("%9$s", unit.cpuName), cells);
    }
}
