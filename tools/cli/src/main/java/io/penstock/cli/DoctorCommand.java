// SPDX-License-Identifier: Apache-2.0
package io.penstock.cli;

import io.penstock.Availability;
import io.penstock.Backend;
import io.penstock.Backends;
import io.penstock.DeviceBuffer;
import io.penstock.Explanation;
import io.penstock.FileOption;
import io.penstock.Option;
import io.penstock.Options;
import io.penstock.StorageFile;
import io.penstock.Transfer;
import io.penstock.cli.doctor.AmdChecks;
import io.penstock.cli.doctor.FileChecks;
import io.penstock.cli.doctor.Finding;
import io.penstock.cli.doctor.GraphicsChecks;
import io.penstock.cli.doctor.KernelChecks;
import io.penstock.cli.doctor.NvidiaChecks;
import io.penstock.cli.doctor.PciChecks;
import io.penstock.cli.doctor.VfioChecks;
import io.penstock.engine.kit.machine.KernelFiles;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;
import reactor.core.publisher.Mono;

/** {@code penstock doctor}: which backends can be used here, what the machine is like, and remedies. */
@Command(
        name = "doctor",
        description =
                "Lists every backend: whether it can be used here, why not, and what would help; then the options that are"
                        + " set, and what of the machine helps or slows down. Exits with 0 if the default backend can be used.")
final class DoctorCommand implements Callable<Integer> {

    private static final int STANDARD_OUTPUT = 1;
    private static final long MOST_READ_BYTES = 16 << 20;
    private static final String BACKEND = "penstock.backend";
    private static final String BACKEND_VARIABLE = "PENSTOCK_BACKEND";

    @Spec
    private CommandSpec spec = CommandSpec.create();

    @picocli.CommandLine.Option(names = "--json", description = "Prints JSON.")
    private boolean json;

    @Parameters(
            arity = "0..1",
            paramLabel = "FILE",
            description =
                    "Looks at the file system and the device of FILE, or of a directory, too; reads up to 16 MiB of it through cuFile, if that"
                            + " is here, so that its driver reports its settings and counters, and lists the path of each backend.")
    private @Nullable Path file;

    private final List<Finding> findings = new ArrayList<>();

    @Override
    public Integer call() throws IOException {
        if (file != null) {
            checkReadable(file);
        }
        DoctorReport report;
        try {
            String chosen = Backends.configured();
            Path readable = file == null || Files.isDirectory(file) ? null : file;
            List<Backends.Listing> listings = readable == null ? Backends.list() : listWithDriver(readable);
            List<DoctorReport.ReadPlan> plans = readable == null ? List.of() : plans(listings, readable);
            look();
            report = new DoctorReport(chosen, "", listings, settings(), plans, findings);
        } catch (IllegalArgumentException e) { // an option: no backend opens, the machine is still examined
            String why = Complaint.of(e);
            findings.add(0, DoctorReport.wrongOption(why));
            look();
            report = new DoctorReport("none", why, List.of(), List.of(), List.of(), findings);
        }
        PrintWriter out = spec.commandLine().getOut();
        out.println(json ? report.json() : report.text(Progress.columns(STANDARD_OUTPUT)));
        out.flush();
        return report.isDefaultAvailable() ? 0 : 1;
    }

    /** Throws if a file cannot be read: each backend would report the failure as its own. */
    private static void checkReadable(Path path) throws IOException {
        if (!Files.exists(path)) {
            throw SymbolicLink.missing(path);
        }
        if (Files.isDirectory(path)) {
            return;
        }
        if (!Files.isRegularFile(path) && !FileChecks.isBlockDevice(path)) {
            throw new IOException(path + " is neither a regular file, a directory nor a block device");
        }
        FileChannel.open(path).close();
    }

    private void look() throws IOException {
        if (!KernelFiles.isLinux()) {
            findings.add(DoctorReport.notLinux());
            if (file != null && !Files.isDirectory(file)) {
                findings.add(directIo(file));
            }
            return;
        }
        KernelFiles machine = KernelFiles.here();
        findings.addAll(KernelChecks.of(machine));
        if (file != null) {
            findings.addAll(FileChecks.of(machine, file));
            if (!Files.isDirectory(file)) {
                findings.add(directIo(file));
            }
        }
        findings.addAll(PciChecks.of(machine));
        findings.addAll(VfioChecks.of(machine));
        findings.addAll(NvidiaChecks.of(machine));
        findings.addAll(AmdChecks.of(machine));
        findings.addAll(GraphicsChecks.of(machine));
    }

    /** Lists the backends while the cuFile driver, if it is here, is open and has counted one read of a file. */
    private List<Backends.Listing> listWithDriver(Path path) {
        List<Backends.Listing> listings = Backends.list();
        boolean here = listings.stream()
                .anyMatch(listing -> listing.name().equals("cufile")
                        && listing.availability().available());
        if (!here) {
            return listings;
        }
        Options options = Options.none().with("penstock.cufile.path", "sync").with("penstock.cufile.statistics", "3");
        try (Backend backend = Backends.open("cufile", options);
                StorageFile opened = get(backend.openFile(path))) {
            long bytes = Math.min(opened.size(), MOST_READ_BYTES);
            if (bytes > 0) {
                try (DeviceBuffer buffer = get(backend.allocate(bytes))) {
                    get(backend.submit(Transfer.read(opened.region(0, bytes), buffer.all())));
                }
            }
            return Backends.list();
        } catch (RuntimeException e) {
            findings.add(DoctorReport.failure("cuFile cannot read " + path + ": " + Complaint.of(e)));
            return listings;
        }
    }

    private List<DoctorReport.ReadPlan> plans(List<Backends.Listing> listings, Path path) {
        List<DoctorReport.ReadPlan> plans = new ArrayList<>();
        for (Backends.Listing listing : listings) {
            Availability availability = listing.availability();
            if (!availability.available()) {
                continue;
            }
            try (Backend backend = Backends.open(listing.name());
                    StorageFile opened = get(backend.openFile(path));
                    DeviceBuffer buffer = get(backend.allocate(MOST_READ_BYTES))) {
                Explanation plan = backend.explain(Transfer.read(opened.region(0, MOST_READ_BYTES), buffer.all()));
                plans.add(new DoctorReport.ReadPlan(listing.name(), plan));
            } catch (RuntimeException e) {
                findings.add(DoctorReport.failure(listing.name() + " cannot read " + path + ": " + Complaint.of(e)));
            }
        }
        return plans;
    }

    private static Finding directIo(Path path) {
        try (Backend host = Backends.open("host");
                StorageFile opened = get(host.openFile(path, FileOption.READ, FileOption.DIRECT))) {
            return Finding.ok("direct-io", "direct I/O in blocks of " + opened.blockSize() + " bytes");
        } catch (RuntimeException e) {
            return Finding.note(
                    "direct-io",
                    Complaint.of(e),
                    "without direct I/O all data goes through the page cache, and nothing moves from peer to peer",
                    "a file system with direct I/O, such as ext4 or XFS");
        }
    }

    private static List<DoctorReport.Setting> settings() {
        List<Option<?>> known = Backends.options();
        Options options = Options.none().resolve(known);
        Stream<DoctorReport.Setting> set = known.stream()
                .filter(option -> !options.source(option).equals("default"))
                .map(option -> new DoctorReport.Setting(
                        option.name(),
                        Option.show(Objects.requireNonNull(options.get(option))),
                        options.source(option)));
        return Stream.concat(chosenBackend(), set).toList();
    }

    /**
     * Returns the setting that chooses the backend, if there is one; the sources are as for
     * {@link Backends#configured}.
     */
    private static Stream<DoctorReport.Setting> chosenBackend() {
        String chosen = Backends.configured();
        String source;
        if (!System.getProperty(BACKEND, "").isBlank()) {
            source = "the system property";
        } else if (!System.getenv().getOrDefault(BACKEND_VARIABLE, "").isBlank()) {
            source = "the environment variable " + BACKEND_VARIABLE;
        } else if (!chosen.equals("host")) {
            source = "the file of penstock.config";
        } else {
            return Stream.empty();
        }
        return Stream.of(new DoctorReport.Setting(BACKEND, chosen, source));
    }

    private static <T> T get(Mono<T> mono) {
        return Objects.requireNonNull(mono.block());
    }
}
