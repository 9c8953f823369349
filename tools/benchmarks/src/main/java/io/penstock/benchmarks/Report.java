// SPDX-License-Identifier: Apache-2.0
package io.penstock.benchmarks;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The results of rows.
 *
 * @param results the comparisons, each with its goal
 * @param figures the figures of each contender, if the row reports them
 * @param latencies of the contenders that know them
 */
record Report(List<Result> results, List<Figure> figures, List<Latency.Of> latencies) {

    Report(List<Result> results, List<Figure> figures) {
        this(results, figures, List.of());
    }

    static Report of(List<Result> results) {
        return new Report(results, List.of());
    }

    Report and(Report other) {
        List<Result> allResults = new ArrayList<>(results);
        allResults.addAll(other.results);
        List<Figure> allFigures = new ArrayList<>(figures);
        allFigures.addAll(other.figures);
        List<Latency.Of> allLatencies = new ArrayList<>(latencies);
        allLatencies.addAll(other.latencies);
        return new Report(allResults, allFigures, allLatencies);
    }

    /** Returns up to three tables. */
    String toMarkdown() {
        String text = "| row | mode | median | range | goal | reached | rates, processors in use |\n"
                + "|---|---|---|---|---|---|---|\n" + lines(results.stream().map(Result::toMarkdown), "\n");
        if (!figures.isEmpty()) {
            text += "\n\n| row | contender | median | range | unit | processor time |\n|---|---|---|---|---|---|\n"
                    + lines(figures.stream().map(Figure::toMarkdown), "\n");
        }
        if (!latencies.isEmpty()) {
            text += "\n\n" + Latency.HEAD + lines(latencies.stream().map(Latency.Of::toMarkdown), "\n");
        }
        return text;
    }

    /** Writes an array of objects, one per line. */
    void writeJson(Path file) throws IOException {
        Stream<String> objects = Stream.of(
                        results.stream().map(Result::toJson),
                        figures.stream().map(Figure::toJson),
                        latencies.stream().map(Latency.Of::toJson))
                .flatMap(all -> all);
        Files.writeString(file, "[\n" + lines(objects.map(line -> "  " + line), ",\n") + "\n]\n");
    }

    private static String lines(Stream<String> lines, String between) {
        return lines.collect(Collectors.joining(between));
    }
}
