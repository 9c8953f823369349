// SPDX-License-Identifier: Apache-2.0
package io.penstock.samples;

import io.penstock.Availability;
import io.penstock.Backends;
import java.io.PrintWriter;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code penstock doctor}: which backends can be used here, and what would help the others. */
@Command(
        name = "doctor",
        description = "Lists every backend: whether it can be used here, why not, and what would help.")
final class DoctorCommand implements Callable<Integer> {

    @Spec
    private CommandSpec spec = CommandSpec.create();

    @Option(names = "--json", description = "Prints JSON.")
    private boolean json;

    @Override
    public Integer call() {
        PrintWriter out = spec.commandLine().getOut();
        List<Backends.Listing> listings = Backends.list();
        if (json) {
            out.println(json(listings));
        } else {
            listings.forEach(listing -> print(out, listing));
        }
        out.flush();
        return 0;
    }

    private static void print(PrintWriter out, Backends.Listing listing) {
        Availability availability = listing.availability();
        out.println(listing.name() + ": " + (availability.available() ? "available" : "not available") + " ("
                + listing.description() + ")");
        out.println("    " + availability.reason());
        if (!availability.remedy().isEmpty()) {
            out.println("    remedy: " + availability.remedy());
        }
        availability.details().forEach(detail -> out.println("    - " + detail));
    }

    private static String json(List<Backends.Listing> listings) {
        return listings.stream().map(DoctorCommand::json).collect(Collectors.joining(",\n  ", "[\n  ", "\n]"));
    }

    private static String json(Backends.Listing listing) {
        Availability availability = listing.availability();
        String details =
                availability.details().stream().map(DoctorCommand::quoted).collect(Collectors.joining(", "));
        return "{\"name\": " + quoted(listing.name())
                + ", \"description\": " + quoted(listing.description())
                + ", \"available\": " + availability.available()
                + ", \"hardware\": " + availability.hardware()
                + ", \"reason\": " + quoted(availability.reason())
                + ", \"remedy\": " + quoted(availability.remedy())
                + ", \"details\": [" + details + "]}";
    }

    static String quoted(String text) {
        StringBuilder json = new StringBuilder("\"");
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (c == '"' || c == '\\') {
                json.append('\\').append(c);
            } else if (c < ' ') {
                json.append(String.format("\\u%04x", (int) c));
            } else {
                json.append(c);
            }
        }
        return json.append('"').toString();
    }
}
