// SPDX-License-Identifier: Apache-2.0
package io.penstock.benchmarks;

import io.penstock.Availability;
import io.penstock.Backends;
import java.io.IOException;
import java.nio.file.Files;
import java.util.List;
import java.util.Optional;

/** Measures Penstock against its peers; see {@link Settings#USAGE}. */
public final class Main {

    private static final int FAILED = 1;
    private static final int REFUSED = 3; // or partly measured while the machine was busy, which the report notes
    private static final int FALLS_SHORT = 0; // a fact to report, not a failure
    private static final int NOTHING_TO_MEASURE = 0; // likewise

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
        Optional<Availability> absent = absent(settings.backend());
        if (absent.isPresent()) {
            System.out.println("benchmarks: nothing to measure here: " + settings.backend() + " is not available: "
                    + absent.get().reason() + ". Remedy: " + absent.get().remedy());
            return NOTHING_TO_MEASURE;
        }
        if (Machine.staysLoaded(settings.force())) {
            return refuse("the load of the last minute is " + Machine.load());
        }
        System.out.println(Machine.describe() + "; " + settings.pairs() + " pairs");
        Files.createDirectories(settings.directory());
        if (settings.backend().equals("host")) {
            return measure(settings, HostBench.rows(settings));
        }
        try (DeviceBench bench = DeviceBench.open(settings)) {
            return measure(settings, bench.rows());
        }
    }

    private static Optional<Availability> absent(String backend) {
        return Backends.list().stream()
                .filter(listing -> listing.name().equals(backend.equals("opencl") ? "opencl-ssg" : backend))
                .map(Backends.Listing::availability)
                .filter(availability -> !availability.available())
                .findFirst();
    }

    /** Measures every row, even if others fail: a failed row is left out, a busy machine is noted. */
    private static int measure(Settings settings, List<Row> rows) throws Exception {
        Report report = Report.of(List.of());
        int status = FALLS_SHORT;
        for (Row row : rows) {
            if (!row.name().contains(settings.rows())
                    || (row.isOnlyByName() && settings.rows().isEmpty())) {
                continue;
            }
            boolean busy = Machine.isBusy(settings.force());
            if (busy && !settings.force()) {
                status = REFUSED;
                System.err.println("benchmarks: processors that the benchmark does not use are busy: " + row.name()
                        + " is measured anyway, and marked as busy");
            }
            try {
                Report measured = row.run(settings, busy);
                System.out.println("\n" + measured.toMarkdown());
                report = report.and(measured);
                write(settings, report); // also the results of an aborted run
            } catch (Exception e) {
                status = FAILED;
                System.err.println("benchmarks: " + row.name() + " failed: " + e);
            }
        }
        System.out.println("\n== all rows\n\n" + report.toMarkdown());
        return status;
    }

    private static void write(Settings settings, Report report) throws IOException {
        if (settings.json() != null) {
            report.writeJson(settings.json());
        }
    }

    private static int refuse(String why) {
        System.err.println("benchmarks: refused: " + why + "; numbers from a busy machine mislead (--force)");
        return REFUSED;
    }
}
