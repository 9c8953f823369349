// SPDX-License-Identifier: Apache-2.0
package io.penstock.benchmarks;

import java.io.IOException;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;

/** Measures Penstock against its peers; see {@link Settings#USAGE}. */
public final class Main {

    private static final int REFUSED = 3;
    private static final int FALLS_SHORT = 0; // a fact to report, no failure

    private Main() {}

    /** Runs the benchmarks that the arguments name. */
    public static void main(String[] arguments) throws Exception {
        Settings settings;
        try {
            settings = Settings.parse(arguments);
        } catch (IllegalArgumentException e) {
            System.err.println("benchmarks: " + e.getMessage() + "\nusage: " + Settings.USAGE);
            System.exit(2);
            return;
        }
        System.exit(run(settings));
    }

    private static int run(Settings settings) throws Exception {
        if (!settings.force() && Machine.wasBusy()) {
            return refuse("the load of the last minute is " + Machine.load());
        }
        System.out.println(Machine.describe() + "; " + settings.pairs() + " pairs, " + settings.seconds() + " s each");
        Files.createDirectories(settings.directory());
        List<Result> results = new ArrayList<>();
        boolean refused = false;
        for (Row row : HostRows.all(settings)) {
            if (!row.name().contains(settings.rows())) {
                continue;
            }
            boolean busy = Machine.isBusy(settings.force());
            if (busy && !settings.force()) {
                refused = true;
                break;
            }
            List<Result> measured = row.run(settings, busy);
            measured.forEach(result -> System.out.println(result.toMarkdown()));
            results.addAll(measured);
        }
        report(settings, results);
        return refused ? refuse("processors that we do not use are busy") : FALLS_SHORT;
    }

    private static void report(Settings settings, List<Result> results) throws IOException {
        System.out.println("\n| row | mode | median | range | goal | reached | rates, processors in use |");
        System.out.println("|---|---|---|---|---|---|---|");
        results.forEach(result -> System.out.println(result.toMarkdown()));
        if (settings.json() != null) {
            String lines =
                    results.stream().map(result -> "  " + result.toJson()).collect(Collectors.joining(",\n"));
            Files.writeString(settings.json(), "[\n" + lines + "\n]\n");
        }
    }

    private static int refuse(String why) {
        System.err.println("benchmarks: refused: " + why + "; numbers from a busy machine mislead (--force)");
        return REFUSED;
    }
}
