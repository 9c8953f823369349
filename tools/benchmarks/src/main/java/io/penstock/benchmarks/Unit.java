// SPDX-License-Identifier: Apache-2.0
package io.penstock.benchmarks;

import java.util.Locale;
import java.util.function.ToDoubleFunction;

/** The unit of a row's measures. */
enum Unit {
    /** An operation is a read or a write. */
    OPERATIONS("/s", Measure::perSecond, "CPU ns each", Measure::cpuNanosEach),
    /** An operation is a block of many. */
    BLOCKS("thousands/s", measure -> measure.perSecond() / 1e3, "CPU us each", measure -> measure.cpuNanosEach() / 1e3),
    /** An operation is a byte. */
    BYTES(
            "GB/s",
            measure -> measure.perSecond() / 1e9,
            "CPU s/GiB",
            measure -> measure.cpuNanosEach() * (1L << 30) / 1e9),
    /** The time of one operation. */
    MICROSECONDS("us", measure -> measure.nanosEach() / 1e3, "CPU us each", measure -> measure.cpuNanosEach() / 1e3),
    /** The time of one operation. */
    MILLISECONDS("ms", measure -> measure.nanosEach() / 1e6, "CPU ms each", measure -> measure.cpuNanosEach() / 1e6);

    final String name;
    final String cpuName;
    private final ToDoubleFunction<Measure> value;
    private final ToDoubleFunction<Measure> cpu;

    Unit(String name, ToDoubleFunction<Measure> value, String cpuName, ToDoubleFunction<Measure> cpu) {
        this.name = name;
        this.value = value;
        this.cpuName = cpuName;
        this.cpu = cpu;
    }

    double of(Measure measure) {
        return value.applyAsDouble(measure);
    }

    double cpuOf(Measure measure) {
        return cpu.applyAsDouble(measure);
    }

    /** Returns about three significant digits. */
    static String number(double value) {
        double size = Math.abs(value);
        String pattern = size >= 100 ? "%.0f" : size >= 10 ? "%.1f" : size >= 1 ? "%.2f" : "%.3f";
        return String.format(Locale.ROOT, pattern, value);
    }
}
