// SPDX-License-Identifier: Apache-2.0
package io.penstock.cli;

import io.penstock.Backend;
import io.penstock.formats.DeviceArray;
import io.penstock.formats.Load;
import io.penstock.formats.LoadPlan;
import io.penstock.formats.LoadedArrays;
import io.penstock.formats.Loader;
import io.penstock.formats.Slice;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;
import reactor.core.Disposable;

/** {@code penstock load}: the arrays of files, into memory of the device, and how fast that was. */
@Command(
        name = "load",
        description = "Loads the arrays of files into memory of the device, and says how fast that was.")
final class LoadCommand implements Callable<Integer> {

    private static final Pattern PART = Pattern.compile("(\\d{1,9})/(\\d{1,9})");

    @Spec
    private CommandSpec spec = CommandSpec.create();

    @Parameters(arity = "1..*", paramLabel = "FILE")
    private List<Path> files = List.of();

    @Option(
            names = "--arrays",
            paramLabel = "GLOB",
            description = "Loads the arrays with such names only, * and ? as in a shell; can be repeated.")
    private List<String> names = List.of();

    @Option(
            names = "--shard",
            paramLabel = "DIMENSION",
            description = "Loads one part of each array: of its rows, or of its columns; --part says which.")
    private Slice.@Nullable Dimension shard;

    @Option(names = "--part", paramLabel = "I/N", description = "Which part: 0/2 is the first of two (default: 0/1).")
    private String part = "0/1";

    @Option(
            names = "--budget",
            paramLabel = "BYTES",
            converter = ByteSize.class,
            description = "Fails before it allocates more memory of the device than this.")
    private @Nullable Long budget;

    @Option(names = "--verify", description = "Reads everything back, and the files again, and compares CRC-32C sums.")
    private boolean verify;

    @Option(names = "--json", description = "Prints JSON.")
    private boolean json;

    @Mixin
    private BackendChoice choice = new BackendChoice();

    private final Progress progress = new Progress();

    @Override
    public Integer call() throws IOException {
        Path[] paths = files.toArray(new Path[0]);
        try (Backend backend = choice.open()) {
            Loader loader = loader(backend);
            LoadPlan plan = Objects.requireNonNull(loader.explain(paths).block());
            Load load = loader.prepare(paths);
            Disposable shown = load.progress()
                    .subscribe(step -> progress.step("loading " + paths[0].getFileName(), step.done(), step.total()));
            try (LoadedArrays loaded = Objects.requireNonNull(load.arrays().block())) {
                Map<String, String> sums =
                        verify ? new DeviceSums(progress).verify(plan, loaded) : new LinkedHashMap<>();
                progress.clear();
                PrintWriter out = spec.commandLine().getOut();
                if (json) {
                    out.println(json(backend, loaded, sums));
                } else {
                    print(out, backend, loaded, sums);
                }
                out.flush();
                return 0;
            } finally {
                shown.dispose();
            }
        } finally {
            progress.clear();
        }
    }

    private Loader loader(Backend backend) {
        Loader loader = Loader.of(backend).arrays(names.toArray(new String[0]));
        if (budget != null) {
            loader = loader.budget(budget);
        }
        Matcher numbers = PART.matcher(part);
        if (!numbers.matches()) {
            throw new IllegalArgumentException("--part must be I/N, such as 0/2, was " + part);
        }
        if (shard == null) {
            if (!part.equals("0/1")) {
                throw new IllegalArgumentException("--part needs --shard rows or --shard columns");
            }
            return loader;
        }
        return loader.slice(new Slice(shard, Integer.parseInt(numbers.group(1)), Integer.parseInt(numbers.group(2))));
    }

    private static void print(PrintWriter out, Backend backend, LoadedArrays loaded, Map<String, String> sums) {
        String[] heading = {"name", "type", "shape", "bytes", "offset", sums.isEmpty() ? "" : "CRC-32C"};
        TextTable table = new TextTable(Set.of(3, 4), heading);
        for (DeviceArray array : loaded.arrays()) {
            table.row(
                    TextTable.plain(array.name()),
                    array.type().name(),
                    array.shape().toString(),
                    String.valueOf(array.bytes()),
                    String.valueOf(array.region().offset()),
                    sums.getOrDefault(array.name(), ""));
        }
        table.print(out);
        out.println(String.format(
                Locale.ROOT,
                "loaded %d arrays, %d bytes, in %.3f s at %s, path %s, backend %s%s",
                loaded.arrays().size(),
                loaded.bytes(),
                loaded.nanos() / 1e9,
                Progress.rate(loaded.bytes(), loaded.nanos()),
                paths(loaded),
                backend.name(),
                sums.isEmpty() ? "" : "; verified"));
    }

    private static String paths(LoadedArrays loaded) {
        return loaded.paths().isEmpty()
                ? "none"
                : loaded.paths().stream().map(String::valueOf).sorted().collect(Collectors.joining("+"));
    }

    private static String json(Backend backend, LoadedArrays loaded, Map<String, String> sums) {
        String arrays = loaded.arrays().stream()
                .map(array -> "{\"name\": " + DoctorCommand.quoted(array.name())
                        + ", \"type\": " + DoctorCommand.quoted(array.type().name())
                        + ", \"shape\": " + array.shape()
                        + ", \"bytes\": " + array.bytes()
                        + ", \"offset\": " + array.region().offset()
                        + (sums.isEmpty()
                                ? ""
                                : ", \"crc32c\": " + DoctorCommand.quoted(sums.getOrDefault(array.name(), "")))
                        + "}")
                .collect(Collectors.joining(",\n    ", "[\n    ", "\n  ]"));
        return "{\n  \"backend\": " + DoctorCommand.quoted(backend.name())
                + ",\n  \"path\": " + DoctorCommand.quoted(paths(loaded))
                + ",\n  \"bytes\": " + loaded.bytes()
                + ",\n  \"nanos\": " + loaded.nanos()
                + ",\n  \"verified\": " + !sums.isEmpty()
                + ",\n  \"arrays\": " + (loaded.arrays().isEmpty() ? "[]" : arrays) + "\n}";
    }
}
