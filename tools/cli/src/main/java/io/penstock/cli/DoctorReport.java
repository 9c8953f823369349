// SPDX-License-Identifier: Apache-2.0
package io.penstock.cli;

import io.penstock.Availability;
import io.penstock.Backends;
import io.penstock.Explanation;
import io.penstock.TransferPath;
import io.penstock.cli.doctor.Finding;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;
import picocli.CommandLine.Help.Ansi;

/**
 * What {@code penstock doctor} prints.
 *
 * @param chosen the name of the backend that is opened by default
 * @param whyNone why no backend can be opened; empty if that depends on the backend
 * @param settings the options that are set
 * @param plans the path that a read of the given file takes with each backend that can be used
 */
record DoctorReport(
        String chosen,
        String whyNone,
        List<Backends.Listing> listings,
        List<Setting> settings,
        List<ReadPlan> plans,
        List<Finding> findings) {

    /** An option that is set, and by which source. */
    record Setting(String name, String value, String source) {}

    /** How a backend would read the file. */
    record ReadPlan(String backend, Explanation explanation) {}

    static Finding wrongOption(String what) {
        return new Finding(
                Finding.Level.WARNING, what, "no backend can be opened", "correct the option", "docs/options.md");
    }

    static Finding notLinux() {
        return new Finding(
                Finding.Level.NOTE,
                "the kernel, the bus and the drivers are looked at on Linux only",
                "what is listed above is all that is known here",
                "",
                "docs/doctor.md");
    }

    static Finding failure(String what) {
        return new Finding(
                Finding.Level.WARNING,
                what,
                "the backend can be used here, but not for this file",
                "",
                "docs/troubleshooting.md");
    }

    /** Returns whether {@code Backends.open()} would find its backend. */
    boolean isDefaultAvailable() {
        boolean best = chosen.equalsIgnoreCase("gpu");
        return listings.stream()
                .filter(listing -> best
                        ? listing.gpuOrder() != Integer.MAX_VALUE
                                && listing.availability().hardware()
                        : listing.name().equalsIgnoreCase(chosen))
                .anyMatch(listing -> listing.availability().available());
    }

    private String whyNotChosen() {
        boolean known = chosen.equalsIgnoreCase("gpu")
                || listings.stream().anyMatch(listing -> listing.name().equalsIgnoreCase(chosen));
        return known ? chosen : "there is no backend '" + chosen + "'";
    }

    /** Returns whether the default backend is ready, and which GPUs are. */
    private String verdict() {
        if (!isDefaultAvailable()) {
            return colored("red", "the default backend cannot be used: ")
                    + plain(whyNone.isEmpty() ? whyNotChosen() : whyNone);
        }
        String gpus = listings.stream()
                .filter(listing -> listing.gpuOrder() != Integer.MAX_VALUE
                        && listing.availability().available()
                        && listing.availability().hardware())
                .map(Backends.Listing::name)
                .collect(Collectors.joining(", "));
        return colored("green", "ready") + ": " + plain(chosen) + ", the default backend; "
                + (gpus.isEmpty() ? "no GPU can be used" : "a GPU by " + gpus);
    }

    /**
     * Returns the text.
     *
     * @param columns how wide a line may be; negative if they are not for a person
     */
    String text(int columns) {
        List<String> lines = new ArrayList<>();
        lines.add(verdict());
        listings.stream()
                .sorted(Comparator.comparing(listing -> !listing.name().equalsIgnoreCase(chosen)))
                .forEach(listing -> lines.addAll(lines(listing)));
        if (!settings.isEmpty()) {
            lines.add("options:");
            settings.forEach(setting -> lines.add(
                    "    " + plain(setting.name() + " = " + setting.value() + " (" + setting.source() + ")")));
        }
        if (!plans.isEmpty()) {
            lines.add("path of a read:");
            plans.forEach(plan -> lines.add("    " + plain(plan.backend() + ": " + path(plan.explanation()))));
        }
        if (!findings.isEmpty()) {
            lines.add("machine:");
            findings.forEach(finding -> lines.addAll(lines(finding)));
        }
        return lines.stream()
                .map(line -> columns < 0 ? line : TextTable.wrapped(line, columns))
                .collect(Collectors.joining(System.lineSeparator()));
    }

    /** A read into host memory lacks nothing, and has no reason. */
    private static String path(Explanation plan) {
        return plan.path() + (plan.path() == TransferPath.HOST ? "" : Variant.why("; ", plan));
    }

    private static List<String> lines(Backends.Listing listing) {
        Availability availability = listing.availability();
        List<String> lines = new ArrayList<>();
        lines.add(listing.name() + ": "
                + (availability.available() ? colored("green", "available") : colored("yellow", "not available")) + " ("
                + listing.description() + ")");
        lines.add("    " + plain(availability.reason()));
        if (!availability.remedy().isEmpty()) {
            lines.add("    remedy: " + plain(availability.remedy()));
        }
        availability.details().forEach(detail -> lines.add("    - " + plain(detail)));
        return lines;
    }

    private static List<String> lines(Finding finding) {
        List<String> lines = new ArrayList<>();
        lines.add(
                switch (finding.level()) {
                    case OK -> colored("green", "    ok       ") + plain(finding.what());
                    case NOTE -> "    note     " + plain(finding.what());
                    case WARNING -> colored("yellow", "    warning  ") + plain(finding.what());
                });
        if (finding.level() != Finding.Level.OK) {
            String indent = " ".repeat(13);
            if (!finding.why().isEmpty()) {
                lines.add(indent + "why:    " + plain(finding.why()));
            }
            if (!finding.remedy().isEmpty()) {
                lines.add(indent + "remedy: " + plain(finding.remedy()));
            }
            lines.add(indent + "see:    " + finding.page());
        }
        return lines;
    }

    /** Options, file names and what drivers report may have any characters. */
    private static String plain(String text) {
        return TextTable.plain(text);
    }

    /** Colours a word if standard output is a terminal, unless NO_COLOR is set. */
    private static String colored(String colour, String fixed) {
        return Ansi.AUTO.string("@|" + colour + " " + fixed + "|@");
    }

    /** Returns an object: the backends, the options that are set, the paths of the file, and what was found. */
    String json() {
        return new JsonText()
                .with("default", chosen)
                .with("backends", listings.stream().map(DoctorReport::json).toList())
                .with("options", settings.stream().map(DoctorReport::json).toList())
                .with("paths", plans.stream().map(DoctorReport::json).toList())
                .with("findings", findings.stream().map(DoctorReport::json).toList())
                .lines();
    }

    private static JsonText json(Setting setting) {
        return new JsonText()
                .with("name", setting.name())
                .with("value", setting.value())
                .with("source", setting.source());
    }

    private static JsonText json(Backends.Listing listing) {
        Availability availability = listing.availability();
        return new JsonText()
                .with("name", listing.name())
                .with("description", listing.description())
                .with("available", availability.available())
                .with("hardware", availability.hardware())
                .with("reason", availability.reason())
                .with("remedy", availability.remedy())
                .with("details", availability.details());
    }

    private static JsonText json(ReadPlan plan) {
        return new JsonText()
                .with("backend", plan.backend())
                .with("path", plan.explanation().path().name())
                .with("whyNotDirect", plan.explanation().whyNotDirect())
                .with("remedy", plan.explanation().remedy());
    }

    private static JsonText json(Finding finding) {
        return new JsonText()
                .with("level", finding.level().name().toLowerCase(Locale.ROOT))
                .with("what", finding.what())
                .with("why", finding.why())
                .with("remedy", finding.remedy())
                .with("page", finding.page());
    }
}
