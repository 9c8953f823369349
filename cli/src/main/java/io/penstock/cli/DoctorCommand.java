// SPDX-License-Identifier: Apache-2.0
package io.penstock.cli;

import io.penstock.Availability;
import io.penstock.Backend;
import io.penstock.Backends;
import io.penstock.DeviceBuffer;
import io.penstock.Options;
import io.penstock.StorageFile;
import io.penstock.Transfer;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;
import reactor.core.publisher.Mono;

/** {@code penstock doctor}: which backends can be used here, and remedies for the others. */
@Command(
        name = "doctor",
        description = "Lists every backend: whether it can be used here, why not, and what would help.")
final class DoctorCommand implements Callable<Integer> {

    private static final long MOST_READ_BYTES = 16 << 20;

    @Spec
    private CommandSpec spec = CommandSpec.create();

    @Option(names = "--json", description = "Prints JSON.")
    private boolean json;

    @Option(
            names = "--driver",
            paramLabel = "FILE",
            description =
                    "Reads FILE through cuFile first, so that its driver is open and reports its settings and counters.")
    private @Nullable Path driver;

    @Override
    public Integer call() {
        PrintWriter out = spec.commandLine().getOut();
        List<Backends.Listing> listings = driver == null ? Backends.list() : listWithDriver(driver);
        if (json) {
            out.println(json(listings));
        } else {
            listings.forEach(listing -> print(out, listing));
        }
        out.flush();
        return 0;
    }

    /** Lists the backends while the cuFile driver is open and has counted one read of a file. */
    private static List<Backends.Listing> listWithDriver(Path path) {
        Options options = Options.none().with("penstock.cufile.path", "sync").with("penstock.cufile.statistics", "3");
        try (Backend backend = Backends.open("cufile", options);
                StorageFile file = get(backend.openFile(path))) {
            long bytes = Math.min(file.size(), MOST_READ_BYTES);
            if (bytes > 0) {
                try (DeviceBuffer buffer = get(backend.allocate(bytes))) {
                    get(backend.submit(Transfer.read(file.region(0, bytes), buffer.all())));
                }
            }
            return Backends.list();
        }
    }

    private static <T> T get(Mono<T> mono) {
        return Objects.requireNonNull(mono.block());
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
