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
        return String.format(
                Locale.ROOT,
                "| %s | %s | %s | %s-%s | %s | %s %s |",
                row,
                contender,
                Unit.number(median()),
                Unit.number(values.get(0)),
                Unit.number(values.get(values.size() - 1)),
                unit.name,
                Unit.number(cpu),
                unit.cpuName);
    }

    String toJson() {
        return String.format(
                Locale.ROOT,
                "{\"row\": \"%s\", \"contender\": \"%s\", \"median\": %s, \"low\": %s, \"high\": %s, \"unit\": \"%s\", "
                        + "\"runs\": %d, \"cpu\": %s, \"cpuUnit\": \"%s\"}",
                row,
                contender,
                Unit.number(median()),
                Unit.number(values.get(0)),
                Unit.number(values.get(values.size() - 1)),
                unit.name,
                values.size(),
                Unit.number(cpu),
                unit.cpuName);
    }
}
