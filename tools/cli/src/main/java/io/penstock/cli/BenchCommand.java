// SPDX-License-Identifier: Apache-2.0
package io.penstock.cli;

import io.penstock.Backend;
import io.penstock.Backends;
import io.penstock.Options;
import io.penstock.PenstockException;
import io.penstock.cli.bench.AccessPattern;
import io.penstock.cli.bench.Benchmark;
import io.penstock.cli.bench.Figures;
import io.penstock.cli.bench.PageCache;
import io.penstock.cli.bench.Sweep;
import io.penstock.cli.bench.Workload;
import io.penstock.file.PartFile;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.OptionalDouble;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code penstock bench}: how fast blocks of a file move, on any backend and path. */
@Command(name = "bench", description = "Measures how fast blocks of a file move between it and the device's memory.")
final class BenchCommand implements Callable<Integer> {

    private static final long DEFAULT_BLOCK_BYTES = 1 << 20;
    private static final double DEFAULT_SECONDS = 5;
    private static final double SWEEP_SECONDS = 1;

    @Spec
    private CommandSpec spec = CommandSpec.create();

    @Parameters(paramLabel = "FILE", description = "Read, or with --rw write created; it stays.")
    private Path file = Path.of("");

    @Mixin
    private BackendChoice choice = new BackendChoice();

    @Option(
            names = "--path",
            paramLabel = "PATH",
            description = "Uses this path, or fails before any byte is moved: direct, mapped, compat, staged, host, or"
                    + " a value of the backend's own option.")
    private @Nullable String path;

    @Option(
            names = "--rw",
            defaultValue = "READ",
            paramLabel = "PATTERN",
            description = "read, write, randread or randwrite (default: read).")
    private AccessPattern pattern = AccessPattern.READ;

    @Option(
            names = "--bs",
            paramLabel = "BYTES",
            converter = ByteSize.class,
            description = "Bytes per transfer (default: 1MiB, or all of a smaller FILE).")
    private @Nullable Long blockBytes;

    @Option(
            names = "--depth",
            paramLabel = "N",
            defaultValue = "32",
            description = "Transfers in flight on each device (default: 32).")
    private int depth;

    @Option(names = "--queues", paramLabel = "N", description = "I/O queues of host I/O: penstock.host.queues.")
    private @Nullable Integer queues;

    @Option(
            names = "--option",
            paramLabel = "NAME=VALUE",
            description = "Sets an option of the library; can be repeated. An example is penstock.staging.workers=8.")
    private Map<String, String> settings = Map.of();

    @Option(
            names = "--gpus",
            paramLabel = "N",
            split = ",",
            description = "Uses these devices at the same time, such as 0,1, each for itself.")
    private List<Integer> gpus = List.of();

    @Option(names = "--direct", description = "Bypasses the page cache (O_DIRECT).")
    private boolean direct;

    @Option(
            names = "--size",
            paramLabel = "BYTES",
            converter = ByteSize.class,
            description = "Uses the first BYTES of FILE (default: all); the length of a new file (default: 1GiB).")
    private @Nullable Long size;

    @Option(
            names = "--time",
            paramLabel = "SECONDS",
            converter = Seconds.class,
            description = "How long (default: 5; of each measurement of a sweep 1).")
    private @Nullable Double seconds;

    @Option(
            names = "--warm-up",
            paramLabel = "SECONDS",
            converter = Seconds.class,
            defaultValue = "2",
            description = "How long the same runs before, unmeasured (default: 2).")
    private double warmUpSeconds;

    @Option(
            names = "--verify",
            description = "Compares the last blocks that were moved, one for each in flight, with FILE byte by byte.")
    private boolean verify;

    @Option(
            names = "--sweep",
            description =
                    "Tries sizes and numbers of transfers instead of --bs and --depth, then numbers of workers and how much each moves at a time;"
                            + " draws both, and prints the best options.")
    private boolean sweep;

    @Option(
            names = "--out",
            paramLabel = "NAME",
            description = "Writes the options of a sweep to NAME.properties, and its picture to NAME.png.")
    private @Nullable String out;

    @Option(names = "--force", description = "Overwrites the bytes of FILE if it exists, and the files of a sweep.")
    private boolean force;

    @Option(names = "--json", description = "Prints JSON.")
    private boolean json;

    private final Progress progress = new Progress();

    @Override
    public Integer call() throws IOException, InterruptedException {
        check();
        BenchFile target = target();
        try (PartFile created = target.create()) {
            Path used = created == null ? file : created.path();
            SweepReport swept;
            String report;
            try {
                if (created != null) {
                    target.preallocate(used, size);
                }
                swept = sweep ? sweep(used) : null;
                report = swept == null ? measure(used) : json ? swept.json() : swept.text();
            } catch (PenstockException e) {
                if (created == null) {
                    throw e;
                }
                throw new IOException(file + " cannot be written: " + created.named(Complaint.of(e)), e);
            }
            if (created != null) {
                created.commit();
            }
            print(report);
            if (swept != null && out != null) { // after what took a minute to find is printed
                String written = swept.write(
                        out, force, why -> spec.commandLine().getErr().println("penstock: " + why));
                if (!json) {
                    print(written);
                }
            }
            return 0;
        } finally {
            progress.clear();
        }
    }

    private BenchFile target() {
        return new BenchFile(file, choice, pattern.writes());
    }

    private void print(String text) {
        progress.clear();
        PrintWriter to = spec.commandLine().getOut();
        to.println(text);
        to.flush();
    }

    private void check() throws IOException {
        target().check(force, verify);
        if (depth < 1 || depth > 65536) {
            throw misuse("--depth must be 1 to 65536, was " + depth);
        }
        if ((seconds != null && !(seconds > 0)) || !(warmUpSeconds >= 0)) {
            throw misuse("--time must be more than 0 s, and --warm-up at least 0 s");
        }
        for (String unused : sweep ? List.of("--bs", "--depth", "--verify") : List.of("--out")) {
            if (spec.commandLine().getParseResult().hasMatchedOption(unused)) {
                throw misuse(
                        sweep
                                ? "--sweep tries sizes and depths itself and verifies nothing: omit " + unused
                                : unused + " needs --sweep");
            }
        }
        if (sweep && gpus.size() > 1) {
            throw misuse("--sweep is for one device");
        }
        if (sweep && choice.ownsFile(file)) {
            throw misuse("--sweep tries options of host I/O, staging and cuFile, which do not apply to " + file);
        }
        if (out != null) {
            SweepReport.checkWritable(out, force);
        }
    }

    private ParameterException misuse(String complaint) {
        return new ParameterException(spec.commandLine(), complaint);
    }

    private Options options() {
        Options options = variant().options();
        for (Map.Entry<String, String> setting : settings.entrySet()) {
            options = with(options, setting.getKey(), setting.getValue(), "--option");
        }
        return queues == null ? options : with(options, "penstock.host.queues", String.valueOf(queues), "--queues");
    }

    /** Returns options with one more set; the message for one that is wrong names the argument that set it. */
    private static Options with(Options options, String name, String value, String argument) {
        Options more = options.with(name, value);
        try {
            more.resolve(Backends.options());
        } catch (IllegalArgumentException e) {
            String complaint = String.valueOf(e.getMessage());
            if (complaint.startsWith("code sets " + name)) {
                throw new IllegalArgumentException(argument + complaint.substring("code".length()), e);
            }
            throw e;
        }
        return more;
    }

    private Variant variant() {
        return choice.variant(path);
    }

    private Workload workload(Path used) throws IOException {
        long length = target().length(used, () -> open(0, options()));
        long bytes = size == null ? length : size;
        if (bytes > length) {
            throw misuse("--size must be at most the length of " + file + ", " + length + " bytes, was " + bytes);
        }
        if (bytes == 0) {
            throw new IOException(file + " is empty");
        }
        if (sweep) { // each run rounds to its own blocks
            return new Workload(used, pattern, 1, 1, bytes, direct, variant().path());
        }
        long block = blockBytes == null ? Math.min(bytes, DEFAULT_BLOCK_BYTES) : blockBytes;
        if (bytes < block) {
            throw misuse("--bs must be at most the bytes that are used of " + file + ", " + bytes + ", was " + block);
        }
        long whole = bytes - bytes % block;
        return new Workload(
                used, pattern, block, depth, whole, direct, variant().path());
    }

    private OptionalDouble cached(Workload work) {
        return choice.ownsFile(work.file()) ? OptionalDouble.empty() : PageCache.share(work.file(), work.bytes());
    }

    private String measure(Path used) throws IOException, InterruptedException {
        Workload work = workload(used);
        OptionalDouble before = cached(work);
        List<Backend> backends = new ArrayList<>();
        try {
            for (int i = 0; i < Math.max(1, gpus.size()); i++) {
                backends.add(open(i, options()));
            }
            try (Benchmark benchmark = Benchmark.open(work, backends)) {
                if (warmUpSeconds > 0) {
                    run(benchmark, "warming up", warmUpSeconds);
                }
                Figures figures = run(benchmark, pattern.label(), seconds == null ? DEFAULT_SECONDS : seconds);
                long syncNanos = benchmark.sync();
                int verified = verify ? benchmark.verify() : 0;
                String name = backends.get(0).name();
                BenchReport report = new BenchReport(file, name, figures, syncNanos, verified, before, cached(work));
                return json ? report.json() : report.text();
            }
        } finally {
            backends.forEach(Backend::close);
        }
    }

    private Backend open(int device, Options options) {
        return gpus.isEmpty() ? choice.open(options) : choice.openDevice(gpus.get(device), options);
    }

    private SweepReport sweep(Path used) throws IOException, InterruptedException {
        Workload work = workload(used);
        long nanos = (long) ((seconds == null ? SWEEP_SECONDS : seconds) * 1e9);
        Sweep.Result found = new Sweep(
                        work,
                        options -> open(0, options),
                        options(),
                        nanos,
                        (run, total) -> progress.share("sweeping", 1000L * (run - 1), 1000L * total, " measurements"))
                .run();
        return new SweepReport(file, choice.name(), pattern.label(), found);
    }

    private Figures run(Benchmark benchmark, String what, double howLong) throws IOException, InterruptedException {
        long nanos = (long) (howLong * 1e9);
        return benchmark.run(
                nanos,
                (bytes, now) -> progress.share(
                        String.format(
                                Locale.ROOT,
                                "%.2f GB, %s, %s, path %s",
                                bytes / 1e9,
                                Progress.rate(bytes, now),
                                what,
                                benchmark.path()),
                        Math.min(now, nanos) / 1_000_000,
                        nanos / 1_000_000,
                        " s"));
    }
}
