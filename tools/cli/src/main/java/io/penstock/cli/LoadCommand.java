// SPDX-License-Identifier: Apache-2.0
package io.penstock.cli;

import io.penstock.Backend;
import io.penstock.formats.Loader;
import io.penstock.formats.SharedLoad;
import io.penstock.formats.Slice;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code penstock load}: the arrays of files, into memory of the device, and how fast that was. */
@Command(
        name = "load",
        description = "Loads the arrays of files into memory of the device, and prints how fast that was.")
final class LoadCommand implements Callable<Integer> {

    private static final Pattern PART = Pattern.compile("(\\d{1,9})/(\\d{1,9})");

    @Spec
    private CommandSpec spec = CommandSpec.create();

    @Parameters(arity = "1..*", paramLabel = "FILE", converter = FileName.class, description = "Paths, or URLs.")
    private List<Path> files = List.of();

    @Option(
            names = "--arrays",
            paramLabel = "GLOB",
            description = "Loads the arrays with such names only, * and ? as in a shell; can be repeated.")
    private List<String> names = List.of();

    @Option(
            names = "--shard",
            paramLabel = "DIMENSION",
            description = "Loads one part of each array: of its rows, or of its columns; --part chooses it.")
    private Slice.@Nullable Dimension shard;

    @Option(names = "--part", paramLabel = "I/N", description = "Which part: 0/2 is the first of two (default: 0/1).")
    private String part = "0/1";

    @Option(
            names = "--gpus",
            paramLabel = "N",
            split = ",",
            description = "Loads into these devices at the same time, such as 0,1: with --shard a part into each, else"
                    + " everything, read once.")
    private List<Integer> gpus = List.of();

    @Option(
            names = "--budget",
            paramLabel = "BYTES",
            converter = ByteSize.class,
            description = "Fails before it allocates more memory of the device than this.")
    private @Nullable Long budget;

    @Option(names = "--little-endian", description = "Swaps the bytes of big-endian arrays, in memory of the host.")
    private boolean littleEndian;

    @Option(names = "--bf16", description = "Rounds F32 to BF16, in memory of the host.")
    private boolean brainFloats;

    @Option(
            names = "--host-memory",
            paramLabel = "BYTES",
            converter = ByteSize.class,
            description =
                    "The memory of the host for arrays that are decoded, assembled or converted (default: 256MiB).")
    private @Nullable Long hostBytes;

    @Option(names = "--all-chunks", description = "Fails where a chunk of an array is missing, instead of filling it.")
    private boolean allChunks;

    @Option(
            names = "--lenient",
            description = "Permits bytes behind the data of safetensors, NIfTI and Arrow streams, and NUL as padding of"
                    + " a header of safetensors, and leaves out damaged arrays.")
    private boolean lenient;

    @Option(names = "--verify", description = "Reads everything back, and the files again, and compares CRC-32C sums.")
    private boolean verify;

    @Option(names = "--json", description = "Prints JSON.")
    private boolean json;

    @Mixin
    private BackendChoice choice = new BackendChoice();

    private final Progress progress = new Progress();

    @Override
    public Integer call() throws IOException {
        if (gpus.size() > 1 && !part.equals("0/1")) {
            throw misuse("--part is for one device; with --gpus each device gets its own");
        }
        SharedLoad shared = new SharedLoad();
        try (LoadTargets targets = new LoadTargets()) {
            for (int i = 0; i < Math.max(1, gpus.size()); i++) {
                Backend backend = targets.own(gpus.isEmpty() ? choice.open() : choice.openDevice(gpus.get(i)));
                Loader loader = checked(backend, gpus.size() > 1 ? i + "/" + gpus.size() : part);
                if (gpus.size() > 1 && shard == null) {
                    loader = loader.shared(shared);
                }
                targets.add(backend, gpus.isEmpty() ? "" : "device " + gpus.get(i), loader, files);
            }
            targets.load(progress);
            if (verify) {
                targets.verify(progress);
            }
            progress.clear();
            PrintWriter out = spec.commandLine().getOut();
            out.println(json ? LoadReport.json(targets) : LoadReport.text(targets));
            out.flush();
            return 0;
        } finally {
            progress.clear();
        }
    }

    private ParameterException misuse(String complaint) {
        return new ParameterException(spec.commandLine(), complaint);
    }

    /** Returns the loader. No file has been read yet, so an exception of it means a wrong argument. */
    private Loader checked(Backend backend, String part) {
        try {
            return loader(backend, part);
        } catch (IllegalArgumentException e) {
            throw new ParameterException(spec.commandLine(), e.getMessage(), e);
        }
    }

    private Loader loader(Backend backend, String part) {
        Loader loader = Loader.of(backend).arrays(names.toArray(new String[0]));
        if (budget != null) {
            loader = loader.budget(budget);
        }
        if (hostBytes != null) {
            loader = loader.hostBytes(hostBytes);
        }
        loader = littleEndian ? loader.littleEndian() : loader;
        loader = allChunks ? loader.allChunks() : loader;
        loader = loader.formatOptions(LsCommand.permitted(lenient));
        loader = brainFloats ? loader.brainFloats() : loader;
        Matcher numbers = PART.matcher(part);
        if (!numbers.matches()) {
            throw new IllegalArgumentException("--part must be I/N, such as 0/2, was " + part);
        }
        if (shard == null) {
            if (!part.equals("0/1") && gpus.size() <= 1) { // else it is a device's part: a device has everything
                throw new IllegalArgumentException("--part needs --shard rows or --shard columns");
            }
            return loader;
        }
        return loader.slice(new Slice(shard, Integer.parseInt(numbers.group(1)), Integer.parseInt(numbers.group(2))));
    }
}
