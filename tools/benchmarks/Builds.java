// SPDX-License-Identifier: Apache-2.0

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Measures two builds in turns: java tools/benchmarks/Builds.java OLD NEW ROUNDS BACKEND [OPTION...], where OLD and NEW
 * are checkouts. Runs tools/benchmarks/run of both, each round the other one first, and prints for every row what each
 * build came to: median, least and most of its rounds. Rows that are not ours, such as the bare ring, show how much the
 * machine itself differs.
 */
public final class Builds {

    private static final Pattern RESULT = Pattern.compile("\\{\"row\": \"([^\"]*)\", \"(?:mode|contender)\": \"([^\"]*)\", "
            + "\"(?:ratio|median)\": ([-0-9.E]+),.*?\"unit\": \"([^\"]*)\"");

    private Builds() {}

    /** Runs both. */
    public static void main(String[] arguments) throws IOException, InterruptedException {
        if (arguments.length < 4) {
            System.err.println("usage: java tools/benchmarks/Builds.java OLD NEW ROUNDS BACKEND [OPTION...]");
            System.exit(2);
        }
        int rounds = Integer.parseInt(arguments[2]);
        List<String> options = List.of(arguments).subList(3, arguments.length);
        List<Map<String, List<Double>>> builds = List.of(new LinkedHashMap<>(), new LinkedHashMap<>());
        for (int round = 0; round < rounds; round++) {
            for (int i = 0; i < 2; i++) {
                int build = (round + i) % 2;
                measure(Path.of(arguments[build]), options, builds.get(build));
            }
        }
        System.out.println("| row | old | new |\n|---|---|---|");
        builds.get(1).forEach((row, results) -> System.out.println("| " + row + " | "
                + spread(builds.get(0).getOrDefault(row, List.of())) + " | " + spread(results) + " |"));
    }

    private static void measure(Path build, List<String> options, Map<String, List<Double>> results)
            throws IOException, InterruptedException {
        Path json = Files.createTempFile("builds", ".json");
        List<String> command = new ArrayList<>(List.of(build.resolve("tools/benchmarks/run").toString()));
        command.addAll(options);
        command.addAll(List.of("--json", json.toString()));
        int status = new ProcessBuilder(command)
                .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start()
                .waitFor();
        Matcher matcher = RESULT.matcher(Files.readString(json));
        Files.delete(json);
        boolean any = false;
        while (matcher.find()) {
            String row = matcher.group(1) + ", " + matcher.group(2) + ", " + matcher.group(4);
            results.computeIfAbsent(row, first -> new ArrayList<>()).add(Double.valueOf(matcher.group(3)));
            any = true;
        }
        if (!any) {
            throw new IllegalStateException(command + " has measured nothing; its exit status was " + status);
        }
    }

    private static String spread(Collection<Double> results) {
        double[] sorted = results.stream().mapToDouble(Double::doubleValue).sorted().toArray();
        return sorted.length == 0
                ? "-"
                : String.format(
                        Locale.ROOT, "%.4g (%.4g-%.4g)", sorted[sorted.length / 2], sorted[0], sorted[sorted.length - 1]);
    }
}
