// SPDX-License-Identifier: Apache-2.0
package io.penstock.benchmarks;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.ToLongFunction;
import java.util.stream.Stream;

/** The samples of a soak's process, and their graph. */
final class SoakRecord {

    private static final int WIDTH = 720;
    private static final int PANEL = 90;
    private static final int LEFT = 150;
    private static final Path SELF = Path.of("/proc/self");

    private final List<Sample> samples = new ArrayList<>();

    /** The resources of the process at one moment; sizes in bytes. */
    private record Sample(
            long seconds,
            long operations,
            long cancels,
            long resident,
            long addresses,
            long descriptors,
            long mappings,
            long threads,
            long heap,
            long slabs) {

        String csv() {
            return String.join(
                    ",",
                    Stream.of(
                                    seconds,
                                    operations,
                                    cancels,
                                    resident,
                                    addresses,
                                    descriptors,
                                    mappings,
                                    threads,
                                    heap,
                                    slabs)
                            .map(String::valueOf)
                            .toList());
        }
    }

    /** One panel of the graph. */
    private record Panel(String name, ToLongFunction<Sample> value, boolean mayNotGrow) {}

    private static final List<Panel> PANELS = List.of(
            new Panel("resident, MiB", sample -> sample.resident >> 20, false),
            new Panel("addresses, MiB", sample -> sample.addresses >> 20, false),
            new Panel("heap after GC, MiB", sample -> sample.heap >> 20, false),
            new Panel("descriptors", Sample::descriptors, true),
            new Panel("mappings", Sample::mappings, false),
            new Panel("bytes of slabs in use", Sample::slabs, true));

    void add(Duration since, long operations, long cancels, long slabs) throws IOException {
        System.gc();
        Runtime runtime = Runtime.getRuntime();
        samples.add(new Sample(
                since.toSeconds(),
                operations,
                cancels,
                status("VmRSS:") << 10,
                status("VmSize:") << 10,
                count(SELF.resolve("fd")),
                lines(SELF.resolve("maps")),
                status("Threads:"),
                runtime.totalMemory() - runtime.freeMemory(),
                slabs));
        System.out.println(last());
    }

    private static long status(String key) throws IOException {
        try (Stream<String> lines = Files.lines(SELF.resolve("status"))) {
            return lines.filter(line -> line.startsWith(key))
                    .mapToLong(line -> Long.parseLong(
                            line.substring(key.length()).replace("kB", "").trim()))
                    .findFirst()
                    .orElseThrow();
        }
    }

    private static long count(Path folder) throws IOException {
        try (Stream<Path> entries = Files.list(folder)) {
            return entries.count();
        }
    }

    private static long lines(Path file) throws IOException {
        try (Stream<String> lines = Files.lines(file)) {
            return lines.count();
        }
    }

    String last() {
        Sample sample = samples.get(samples.size() - 1);
        return String.format(
                Locale.ROOT,
                "%d s: %d operations, %d of them cancelled; resident %d MiB, addresses %d MiB, heap %d MiB, %d descriptors,"
                        + " %d mappings, %d threads, %d bytes of slabs",
                sample.seconds,
                sample.operations,
                sample.cancels,
                sample.resident >> 20,
                sample.addresses >> 20,
                sample.heap >> 20,
                sample.descriptors,
                sample.mappings,
                sample.threads,
                sample.slabs);
    }

    /**
     * Returns the resources that exceeded at the end, with nothing in flight, their maximum in the minutes up to {@code
     * warm}, with operations in flight.
     */
    List<String> grown(Duration warm) {
        Sample end = samples.get(samples.size() - 1);
        List<String> grown = new ArrayList<>();
        for (Panel panel : PANELS) {
            long most = samples.stream()
                    .filter(sample -> sample.seconds <= Math.max(warm.toSeconds(), samples.get(0).seconds))
                    .mapToLong(panel.value)
                    .max()
                    .orElseThrow();
            if (panel.mayNotGrow && panel.value.applyAsLong(end) > most) {
                grown.add(panel.name + " from " + most + " to " + panel.value.applyAsLong(end));
            }
        }
        return grown;
    }

    void write(Path folder, String name) throws IOException {
        List<String> csv = new ArrayList<>();
        csv.add("seconds,operations,cancels,resident,addresses,descriptors,mappings,threads,heap,slabs");
        samples.forEach(sample -> csv.add(sample.csv()));
        Files.write(folder.resolve("soak-" + name + ".csv"), csv);
        Files.writeString(folder.resolve("soak-" + name + ".svg"), svg());
    }

    private String svg() {
        int height = PANELS.size() * PANEL + 30;
        StringBuilder svg =
                new StringBuilder("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 " + (LEFT + WIDTH + 20)
                        + " " + height + "\" font-family=\"sans-serif\" font-size=\"12\">\n"
                        + "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n");
        long seconds = Math.max(1, samples.get(samples.size() - 1).seconds);
        for (int i = 0; i < PANELS.size(); i++) {
            panel(svg, PANELS.get(i), 10 + i * PANEL, seconds);
        }
        svg.append("<text x=\"" + LEFT + "\" y=\"" + (height - 6) + "\">0 to " + seconds + " s</text>\n</svg>\n");
        return svg.toString();
    }

    private void panel(StringBuilder svg, Panel panel, int top, long seconds) {
        long most = Math.max(1, samples.stream().mapToLong(panel.value).max().orElseThrow());
        int bottom = top + PANEL - 20;
        StringBuilder points = new StringBuilder();
        for (Sample sample : samples) {
            long x = LEFT + sample.seconds * WIDTH / seconds;
            long y = bottom - panel.value.applyAsLong(sample) * (PANEL - 20) / most;
            points.append(x).append(',').append(y).append(' ');
        }
        svg.append("<text x=\"4\" y=\"" + (top + 12) + "\">" + panel.name + "</text>\n<text x=\"4\" y=\"" + (top + 28)
                + "\">0 to " + most + "</text>\n<rect x=\"" + LEFT + "\" y=\"" + top + "\" width=\"" + WIDTH
                + "\" height=\"" + (PANEL - 20)
                + "\" fill=\"none\" stroke=\"#ccc\"/>\n<polyline fill=\"none\" stroke=\"#06c\" points=\""
                + points.toString().trim() + "\"/>\n");
    }
}
