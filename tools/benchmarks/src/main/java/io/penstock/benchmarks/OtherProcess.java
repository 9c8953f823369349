// SPDX-License-Identifier: Apache-2.0
package io.penstock.benchmarks;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Random reads in a process of its own for each run, with a warm-up as long as the run: what a command does that runs
 * once.
 */
final class OtherProcess {

    /** The command, as {@code tools/benchmarks/run} names it; null if it does not. */
    static final @Nullable String COMMAND = System.getProperty("benchmarks.penstock");

    private OtherProcess() {}

    /** Returns {@code penstock bench} on the same work. */
    static Contender benchCommand(Workload workload) {
        return nanos -> {
            String seconds = String.format(Locale.ROOT, "%.3f", nanos / 1e9);
            String report = output(List.of(
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
                    "--json"));
            double gib = number(report, "bytes") / (1 << 30);
            double cpuNanos = number(report, "cpuSecondsPerGib") * gib * 1e9;
            return new Measure((long) number(report, "operations"), (long) number(report, "nanos"), (long) cpuNanos);
        };
    }

    private static double number(String report, String name) throws IOException {
        Matcher found = Pattern.compile("\"" + name + "\": ([0-9.]+)").matcher(report);
        if (!found.find()) {
            throw new IOException("it reports no " + name + ": " + report);
        }
        return Double.parseDouble(found.group(1));
    }

    /** Returns {@link PenstockHost.Submit} in another JVM. */
    static Contender submitting(Workload workload) {
        return nanos -> {
            List<String> command = java(
                    ManagementFactory.getRuntimeMXBean().getInputArguments(),
                    Submitting.class,
                    workload.file().toString(),
                    "" + workload.blockBytes(),
                    "" + workload.depth(),
                    "" + nanos);
            String[] values = output(command).strip().split(" ");
            return new Measure(Long.parseLong(values[0]), Long.parseLong(values[1]), Long.parseLong(values[2]));
        };
    }

    /** Returns the command of a program of this class path, in a JVM like this one. */
    static List<String> java(List<String> options, Class<?> main, String... arguments) {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(options);
        command.addAll(List.of("-cp", System.getProperty("java.class.path"), main.getName()));
        command.addAll(List.of(arguments));
        return command;
    }

    private static String output(List<String> command) throws IOException, InterruptedException {
        Process process = new ProcessBuilder(command)
                .redirectError(ProcessBuilder.Redirect.DISCARD)
                .start();
        String report = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        if (process.waitFor() != 0) {
            throw new IOException("it failed: " + report);
        }
        return report;
    }

    /** Runs in the other JVM. */
    static final class Submitting {

        /** Arguments: the file, the bytes of a block, how many are in flight, and the nanoseconds. */
        public static void main(String[] arguments) throws Exception {
            int block = Integer.parseInt(arguments[1]);
            Workload work = new Workload(Path.of(arguments[0]), block, Integer.parseInt(arguments[2]), false, false);
            try (PenstockHost contender = new PenstockHost.Submit(work, Order.of("submit"))) {
                Measure measure = null;
                for (int run = 0; run < 2; run++) { // the first one warms up
                    measure = contender.run(Long.parseLong(arguments[3]));
                    contender.verify();
                }
                System.out.println(measure.operations() + " " + measure.nanos() + " " + measure.cpuNanos());
            }
        }
    }
}
