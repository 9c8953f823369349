// SPDX-License-Identifier: Apache-2.0
package io.penstock.cli.serve.peer;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Random;
import java.util.function.ToDoubleFunction;
import java.util.stream.IntStream;

/**
 * {@code ServeComparison DIR WARMUP ROUNDS SECONDS JSON WAY...}: starts a server for each way, checks what each sends,
 * warms it up, and has wrk ask them for 1 MiB ranges of one hot file, in turns, so that what else the machine does hits
 * all alike.
 */
public final class ServeComparison {

    private static final int FILE_BYTES = 128 << 20;
    private static final int FIRST_PORT = 18_100;

    private final Path directory;
    private final Map<String, Peer> peers = new LinkedHashMap<>();
    private final Map<String, List<Peer.Load>> loads = new LinkedHashMap<>();

    private ServeComparison(Path directory) {
        this.directory = directory;
    }

    public static void main(String[] arguments) throws Exception {
        ServeComparison comparison = new ServeComparison(Path.of(arguments[0]));
        int warmUp = Integer.parseInt(arguments[1]);
        int rounds = Integer.parseInt(arguments[2]);
        int seconds = Integer.parseInt(arguments[3]);
        try {
            comparison.start(List.of(arguments).subList(5, arguments.length));
            comparison.warmUp(warmUp);
            comparison.measure(rounds, seconds);
        } finally {
            comparison.peers.values().forEach(Peer::close);
        }
        System.out.print(comparison.tables());
        Files.writeString(Path.of(arguments[4]), comparison.json(warmUp, rounds, seconds));
    }

    private void start(List<String> variants) throws Exception {
        byte[] content = new byte[FILE_BYTES];
        new Random(1).nextBytes(content);
        Files.write(directory.resolve("hot.bin"), content);
        for (String variant : variants) {
            Peer peer = Peer.start(variant, directory, FIRST_PORT + peers.size());
            peers.put(variant, peer);
            loads.put(variant, new ArrayList<>());
            peer.verify(content);
        }
    }

    /** The JVM compiles a method of a request after thousands of requests: more than a few seconds bring. */
    private void warmUp(int seconds) throws Exception {
        for (Map.Entry<String, Peer> peer : peers.entrySet()) {
            report("warm-up", peer.getKey(), peer.getValue().load(seconds));
        }
    }

    private void measure(int rounds, int seconds) throws Exception {
        for (int round = 0; round < rounds; round++) {
            List<String> order = new ArrayList<>(peers.keySet());
            Collections.rotate(order, round); // nobody always comes after the same one
            for (String variant : order) {
                Peer peer = peers.get(variant);
                Peer.Load load = peer.load(seconds);
                loads.get(variant).add(load);
                report("round " + (round + 1), variant, load);
            }
        }
    }

    private static void report(String when, String variant, Peer.Load load) {
        System.err.printf(
                Locale.ROOT,
                "%s: %-20s %6.0f MiB/s, %6.0f ms of CPU per GiB%n",
                when,
                variant,
                load.mibPerSecond(),
                load.cpuMillisPerGib());
    }

    /** Returns a table of ratios to the first server, and one to each that is the sample with another option. */
    private String tables() {
        StringBuilder tables = new StringBuilder();
        List<String> variants = List.copyOf(peers.keySet());
        for (String variant : variants) {
            if (variant.equals(variants.get(0)) || variant.startsWith("webflux:")) {
                tables.append(table(variant)).append("\n");
            }
        }
        return tables.toString();
    }

    private String table(String first) {
        StringBuilder table = new StringBuilder();
        table.append("Medians, least and most. Ratios are of pairs within a round: rate of ")
                .append(first)
                .append(" / rate of the other, CPU of the other / CPU of ")
                .append(first)
                .append(".\n\n| server | MiB/s | ratio | CPU ms per GiB | ratio |\n|---|---|---|---|---|\n");
        for (String variant : peers.keySet()) {
            table.append(String.format(
                    Locale.ROOT,
                    "| %s | %s | %s | %s | %s |%n",
                    variant,
                    spread("%.0f", values(variant, Peer.Load::mibPerSecond)),
                    spread("%.2f", ratios(first, variant, Peer.Load::mibPerSecond)),
                    spread("%.0f", values(variant, Peer.Load::cpuMillisPerGib)),
                    spread("%.2f", ratios(variant, first, Peer.Load::cpuMillisPerGib))));
        }
        return table.toString();
    }

    private List<Double> values(String variant, ToDoubleFunction<Peer.Load> number) {
        return loads.get(variant).stream().map(number::applyAsDouble).toList();
    }

    /** Of one round each, so that a slow minute of the machine slows both. */
    private List<Double> ratios(String above, String below, ToDoubleFunction<Peer.Load> number) {
        List<Double> over = values(above, number);
        List<Double> under = values(below, number);
        return IntStream.range(0, over.size())
                .mapToObj(round -> over.get(round) / under.get(round))
                .toList();
    }

    private static String spread(String format, List<Double> values) {
        List<Double> sorted = values.stream().sorted().toList();
        return String.format(
                Locale.ROOT,
                format + " (" + format + " to " + format + ")",
                sorted.get(sorted.size() / 2),
                sorted.get(0),
                sorted.get(sorted.size() - 1));
    }

    private String json(int warmUp, int rounds, int seconds) throws IOException {
        List<String> lines = new ArrayList<>();
        for (String variant : loads.keySet()) {
            lines.add("    \"" + variant + "\": {\"mib_per_second\": " + values(variant, Peer.Load::mibPerSecond)
                    + ", \"cpu_ms_per_gib\": " + values(variant, Peer.Load::cpuMillisPerGib) + "}");
        }
        return "{\n  \"date\": \"" + Instant.now() + "\",\n  \"processors\": "
                + Runtime.getRuntime().availableProcessors() + ",\n  \"warm_up_seconds\": " + warmUp
                + ",\n  \"rounds\": " + rounds + ",\n  \"seconds\": "
                + seconds + ",\n  \"load\": \""
                + Files.readString(Path.of("/proc/loadavg")).strip()
                + "\",\n  \"ways\": {\n" + String.join(",\n", lines) + "\n  }\n}\n";
    }
}
