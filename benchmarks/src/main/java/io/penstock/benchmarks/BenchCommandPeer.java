// SPDX-License-Identifier: Apache-2.0
package io.penstock.benchmarks;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** {@code penstock bench} on the same work, in a process of its own with a warm-up as long as its run. */
final class BenchCommandPeer implements Contender {

    /** The command, as {@code benchmarks/run} names it; null if it does not. */
    static final @Nullable String COMMAND = System.getProperty("benchmarks.penstock");

    private final Workload workload;

    BenchCommandPeer(Workload workload) {
        this.workload = workload;
    }

    @Override
    public String name() {
        return "penstock bench";
    }

    @Override
    public Measure run(long nanos) throws Exception {
        String seconds = String.format(Locale.ROOT, "%.3f", nanos / 1e9);
        List<String> command = List.of(
                String.valueOf(COMMAND),
                "bench",
                workload.file().toString(),
                "--backend=host",
                "--rw=randread",
                "--bs=" + workload.blockBytes(),
                "--depth=" + workload.depth(),
                "--time=" + seconds,
                "--warm-up=" + seconds,
                "--verify",
                "--json");
        Process bench = new ProcessBuilder(command)
                .redirectError(ProcessBuilder.Redirect.DISCARD)
                .start();
        String report = new String(bench.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        if (bench.waitFor() != 0) {
            throw new IOException("it failed: " + report);
        }
        double gib = number(report, "bytes") / (1 << 30);
        return new Measure((long) number(report, "operations"), (long) number(report, "nanos"), (long)
                (number(report, "cpuSecondsPerGib") * gib * 1e9));
    }

    private static double number(String report, String name) throws IOException {
        Matcher found = Pattern.compile("\"" + name + "\": ([0-9.]+)").matcher(report);
        if (!found.find()) {
            throw new IOException("it reports no " + name + ": " + report);
        }
        return Double.parseDouble(found.group(1));
    }
}
