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
                work.pattern().label(),
                TextTable.plain(file.toString()),
                Option.show(work.blockBytes()),
                work.depth(),
                figures.nanos() / 1e9,
                Progress.rate(figures.bytes(), figures.nanos()),
                figures.operationsPerSecond()));
        lines.add("latency   " + percentiles() + ", max "
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

    private String percentiles() {
        List<String> all = new ArrayList<>();
        for (double percentile : PERCENTILES) {
            String name = percentile == Math.rint(percentile) ? String.valueOf((int) percentile) : "" + percentile;
            all.add("p" + name + " " + time(figures.latencies().getValueAtPercentile(percentile)));
        }
        return String.join(", ", all);
    }

    /** Returns an object: bytes, nanoseconds, and rates per second. */
    String json() {
        Workload work = figures.work();
        JsonText json = new JsonText()
                .with("file", file.toString())
                .with("backend", backend)
                .with("rw", work.pattern().label())
                .with("blockBytes", work.blockBytes())
                .with("depth", work.depth())
                .with("usedBytes", work.bytes())
                .with("direct", work.direct())
                .with("nanos", figures.nanos())
                .with("operations", figures.operations())
                .with("bytes", figures.bytes())
                .with("bytesPerSecond", figures.bytesPerSecond(), 0)
                .with("operationsPerSecond", figures.operationsPerSecond(), 1)
                .with("cpuSecondsPerGib", figures.cpuSecondsPerGib(), 4);
        for (double percentile : PERCENTILES) {
            json.with(
                    "p" + String.valueOf(percentile).replace(".0", "").replace(".", "") + "Nanos",
                    figures.latencies().getValueAtPercentile(percentile));
        }
        json.with("maxNanos", figures.latencies().getMaxValue())
                .with("paths", figures.paths().stream().map(Enum::name).toList())
                .with("evidence", figures.last().evidence().name())
                .with("reason", figures.last().reason());
        return json.with("cachedBefore", cachedBefore.orElse(Double.NaN), 3)
                .with("cachedAfter", cachedAfter.orElse(Double.NaN), 3)
                .with("syncNanos", syncNanos)
                .with("verifiedBlocks", verified)
                .with(
                        "devices",
                        figures.devices().entrySet().stream()
                                .map(device -> new JsonText()
                                        .with("device", device.getKey())
                                        .with("bytes", device.getValue()))
                                .toList())
                .lines();
    }
}
