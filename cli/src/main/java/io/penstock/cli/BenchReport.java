// SPDX-License-Identifier: Apache-2.0
package io.penstock.cli;

import io.penstock.Option;
import io.penstock.cli.bench.Figures;
import io.penstock.cli.bench.Workload;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.OptionalDouble;
import java.util.stream.Collectors;

/**
 * What {@code penstock bench} prints.
 *
 * @param syncNanos how long the sync after writes took
 * @param verified how many blocks were compared
 * @param cachedBefore the share of the file in the page cache before the warm-up
 * @param cachedAfter the share of the file in the page cache after the run
 */
record BenchReport(
        Path file,
        String backend,
        Figures figures,
        long syncNanos,
        int verified,
        OptionalDouble cachedBefore,
        OptionalDouble cachedAfter) {

    private static final double[] PERCENTILES = {50, 90, 99, 99.9, 99.99};
    private static final double HOT = 0.95;
    private static final double COLD = 0.05;

    String text() {
        Workload work = figures.work();
        List<String> lines = new ArrayList<>();
        lines.add(String.format(
                Locale.ROOT,
                "%s of %s, blocks of %s, %d in flight, %.1f s: %s, %,.0f/s",
                pattern(),
                TextTable.plain(file.toString()),
                Option.show(work.blockBytes()),
                work.depth(),
                figures.nanos() / 1e9,
                Progress.rate(figures.bytes(), figures.nanos()),
                figures.operationsPerSecond()));
        lines.add("latency   " + percentiles("%s %s", ", ") + ", max "
                + time(figures.latencies().getMaxValue()));
        lines.add(String.format(
                Locale.ROOT,
                "processor %.3f s per GiB, %.2f processors",
                figures.cpuSecondsPerGib(),
                (double) figures.cpuNanos() / figures.nanos()));
        lines.add("path      " + TextTable.plain(path() + ", backend " + backend));
        lines.add("cache     " + cache());
        if (work.pattern().writes()) {
            lines.add(String.format(
                    Locale.ROOT,
                    "sync      %.3f s; with it %s",
                    syncNanos / 1e9,
                    Progress.rate(figures.bytes(), figures.nanos() + syncNanos)));
        }
        if (figures.devices().size() > 1) {
            figures.devices()
                    .forEach((device, moved) -> lines.add(
                            "device    " + TextTable.plain(device) + ": " + Progress.rate(moved, figures.nanos())));
        }
        if (verified > 0) {
            lines.add("verified  " + verified + " blocks");
        }
        return String.join(System.lineSeparator(), lines);
    }

    private String pattern() {
        return figures.work().pattern().name().toLowerCase(Locale.ROOT);
    }

    private String path() {
        String paths = figures.paths().stream().map(String::valueOf).collect(Collectors.joining("+"));
        String evidence = figures.last().evidence().name().toLowerCase(Locale.ROOT);
        String reason = figures.last().reason();
        return paths + " (" + evidence + (reason.isEmpty() ? "" : ": " + reason) + ")";
    }

    private String cache() {
        if (figures.work().direct()) {
            return "bypassed";
        }
        return temperature(cachedBefore) + " before, " + temperature(cachedAfter) + " after";
    }

    private static String temperature(OptionalDouble share) {
        if (share.isEmpty()) {
            return "unknown";
        }
        double value = share.getAsDouble();
        String word = value >= HOT ? "hot" : value <= COLD ? "cold" : "warm";
        return String.format(Locale.ROOT, "%s (%.0f %%)", word, 100 * value);
    }

    private static String time(long nanos) {
        return nanos < 1_000_000
                ? String.format(Locale.ROOT, "%.1f us", nanos / 1e3)
                : String.format(Locale.ROOT, "%.2f ms", nanos / 1e6);
    }

    private String percentiles(String format, String separator) {
        List<String> all = new ArrayList<>();
        for (double percentile : PERCENTILES) {
            String name = "p" + (percentile == Math.rint(percentile) ? String.valueOf((int) percentile) : percentile);
            all.add(String.format(format, name, time(figures.latencies().getValueAtPercentile(percentile))));
        }
        return String.join(separator, all);
    }

    /** Returns an object: bytes, nanoseconds, and rates per second. */
    String json() {
        Workload work = figures.work();
        List<String> fields = new ArrayList<>();
        fields.add("\"file\": " + JsonText.quoted(file.toString()));
        fields.add("\"backend\": " + JsonText.quoted(backend));
        fields.add("\"rw\": " + JsonText.quoted(pattern()));
        fields.add("\"blockBytes\": " + work.blockBytes());
        fields.add("\"depth\": " + work.depth());
        fields.add("\"usedBytes\": " + work.bytes());
        fields.add("\"direct\": " + work.direct());
        fields.add("\"nanos\": " + figures.nanos());
        fields.add("\"operations\": " + figures.operations());
        fields.add("\"bytes\": " + figures.bytes());
        fields.add(number("\"bytesPerSecond\": %.0f", figures.bytesPerSecond()));
        fields.add(number("\"operationsPerSecond\": %.1f", figures.operationsPerSecond()));
        fields.add(number("\"cpuSecondsPerGib\": %.4f", figures.cpuSecondsPerGib()));
        for (double percentile : PERCENTILES) {
            fields.add("\"p" + percentile + "Nanos\": " + figures.latencies().getValueAtPercentile(percentile));
        }
        fields.add("\"maxNanos\": " + figures.latencies().getMaxValue());
        fields.add("\"paths\": "
                + figures.paths().stream()
                        .map(path -> JsonText.quoted(path.name()))
                        .collect(Collectors.joining(", ", "[", "]")));
        fields.add("\"evidence\": " + JsonText.quoted(figures.last().evidence().name()));
        fields.add("\"reason\": " + JsonText.quoted(figures.last().reason()));
        fields.add("\"cachedBefore\": " + share(cachedBefore));
        fields.add("\"cachedAfter\": " + share(cachedAfter));
        fields.add("\"syncNanos\": " + syncNanos);
        fields.add("\"verifiedBlocks\": " + verified);
        fields.add("\"devices\": "
                + figures.devices().entrySet().stream()
                        .map(device -> new JsonText()
                                .with("device", device.getKey())
                                .with("bytes", device.getValue())
                                .toString())
                        .collect(Collectors.joining(", ", "[", "]")));
        return fields.stream().collect(Collectors.joining(",\n  ", "{\n  ", "\n}"));
    }

    private static String number(String format, double value) {
        return String.format(Locale.ROOT, format, value);
    }

    private static String share(OptionalDouble share) {
        return share.isEmpty() ? "null" : number("%.3f", share.getAsDouble());
    }
}
