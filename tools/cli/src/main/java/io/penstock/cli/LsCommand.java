// SPDX-License-Identifier: Apache-2.0
package io.penstock.cli;

import io.penstock.Backend;
import io.penstock.Backends;
import io.penstock.formats.Array;
import io.penstock.formats.ArrayFile;
import io.penstock.formats.ArraySource;
import io.penstock.formats.ArrayValues;
import io.penstock.formats.Extent;
import io.penstock.formats.FileBlocks;
import io.penstock.formats.FormatOption;
import io.penstock.formats.Formats;
import io.penstock.formats.LoadPlan;
import io.penstock.formats.LoadedArrays;
import io.penstock.formats.Loader;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.ByteOrder;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.DoubleSummaryStatistics;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code penstock ls}: the arrays of a file, from its metadata alone. */
@Command(
        name = "ls",
        description =
                "Lists the arrays of a file: safetensors, GGUF, npy, npz, NIfTI, Zarr, and others (docs/formats.md);"
                        + " of an s3: URL that ends with a slash, the objects.")
final class LsCommand implements Callable<Integer> {

    private static final int MOST_TEXT = 100; // of an attribute, on one line

    @Spec
    private CommandSpec spec = CommandSpec.create();

    @Parameters(index = "0", paramLabel = "FILE", converter = FileName.class, description = "A path, or a URL.")
    private Path path = Path.of("");

    @Option(
            names = "--values",
            paramLabel = "NAME",
            description = "Reads the arrays of that name ('*' and '?' match), and prints their first values, minimum,"
                    + " maximum and mean.")
    private @Nullable String values;

    @Option(
            names = "--lenient",
            description = "Permits bytes behind the data of safetensors, NIfTI and Arrow streams, and NUL as padding of"
                    + " a header of safetensors.")
    private boolean lenient;

    @Option(names = "--json", description = "Prints JSON.")
    private boolean json;

    @Override
    public Integer call() throws IOException {
        PrintWriter out = spec.commandLine().getOut();
        if (values != null && json) {
            throw new ParameterException(spec.commandLine(), "--values prints no JSON");
        }
        if (FileName.isWritable(path) && path.toUri().getPath().endsWith("/")) {
            if (values != null || lenient) {
                throw new ParameterException(
                        spec.commandLine(),
                        "--values and --lenient are for the arrays of a file, and " + path + " is a folder");
            }
            printFolder(out);
            return 0;
        }
        ArrayFile file =
                Objects.requireNonNull(Formats.read(path, permitted(lenient)).block());
        if (values != null) {
            printValues(out, file, values);
        } else if (json) {
            out.println(json(file));
        } else {
            print(out, file);
        }
        out.flush();
        return 0;
    }

    static FormatOption[] permitted(boolean lenient) {
        return lenient ? FormatOption.values() : new FormatOption[0];
    }

    /** Prints each name as it comes: a folder of a store may have millions. JSON is printed whole, or not at all. */
    private void printFolder(PrintWriter out) throws IOException {
        long count = 0;
        List<String> entries = new ArrayList<>();
        try (DirectoryStream<Path> folder = Files.newDirectoryStream(path)) {
            for (Path object : folder) {
                if (json) {
                    entries.add(object.toString());
                } else {
                    out.println(TextTable.plain(object.toString()));
                }
                count++;
            }
        } catch (DirectoryIteratorException e) {
            throw e.getCause();
        }
        out.println(
                json
                        ? new JsonText()
                                .with("folder", path.toString())
                                .with("entries", entries)
                                .lines()
                        : count + (count == 1 ? " object or folder" : " objects and folders"));
        out.flush();
    }

    private static void print(PrintWriter out, ArrayFile file) {
        file.attributes().forEach((key, value) -> out.println(TextTable.plain(key) + " = " + shortened(value)));
        TextTable table = new TextTable(Set.of(3, 4), "name", "type", "shape", "bytes", "file offset", "layout");
        for (Array array : file.arrays()) {
            Array.Data data = array.data();
            table.row(
                    TextTable.plain(array.name()),
                    array.type().name(),
                    array.shape().toString(),
                    String.valueOf(array.bytes()),
                    data instanceof ArraySource source
                            ? String.valueOf(source.first().offset())
                            : "-",
                    layout(array));
        }
        file.leftOut()
                .forEach((name, reason) -> table.row(
                        TextTable.plain(name), "-", "-", "-", "-", TextTable.plain("cannot be read: " + reason)));
        table.print(out);
        out.println(
                Counted.of(file.arrays().size(), "array") + ", " + Counted.bytes(file.bytes()) + ", " + file.format());
    }

    /** One array after the other, so that memory for one is enough. */
    private static void printValues(PrintWriter out, ArrayFile file, String pattern) {
        try (Backend host = Backends.open("host")) {
            for (LoadPlan.Placement placement : Loader.of(host)
                    .arrays(pattern)
                    .formatOptions(FormatOption.DAMAGED_ARRAYS) // the table has them
                    .explain(file)
                    .arrays()) {
                String name = placement.array().name();
                try (LoadedArrays loaded = Objects.requireNonNull(
                        Loader.of(host).arrays(name).load(file).block())) {
                    ArrayValues read =
                            Objects.requireNonNull(loaded.get(name).download().block());
                    out.println(TextTable.plain(read + statistics(read)));
                }
            }
        }
    }

    private static String statistics(ArrayValues values) {
        if (values.count() == 0 || !values.areNumbers()) {
            return "";
        }
        DoubleSummaryStatistics all = values.statistics();
        return String.format(
                Locale.ROOT, "; min %.7g, max %.7g, mean %.7g", all.getMin(), all.getMax(), all.getAverage());
    }

    private static String shortened(String value) {
        String plain = TextTable.plain(value);
        return plain.length() <= MOST_TEXT ? plain : plain.substring(0, MOST_TEXT) + "...";
    }

    /** Returns what is unusual of the layout. */
    private static String layout(Array array) {
        String order = array.order() == Array.Order.COLUMN_MAJOR ? "column-major " : "";
        String bytes = array.byteOrder() == ByteOrder.BIG_ENDIAN ? "big-endian " : "";
        String gaps = array.data() instanceof FileBlocks rows ? "rows every " + rows.stride() + " bytes" : "";
        return (order + bytes + gaps + chunks(array)).strip();
    }

    /** Returns {@code 12 chunks of [4, 1000] by zstd}. */
    private static String chunks(Array array) {
        if (!(array.data() instanceof Array.Data.Chunked chunked)) {
            return "";
        }
        String codecs = chunked.chunks().stream()
                .flatMap(chunk -> chunk.codecs().stream())
                .map(codec -> codec.replaceFirst(":.*", "")) // without its parameter, such as a sum
                .distinct()
                .collect(Collectors.joining(", "));
        return Counted.of(chunked.chunks().size(), "chunk") + " of " + chunked.chunkShape()
                + (codecs.isEmpty() ? "" : " by " + codecs);
    }

    private static String json(ArrayFile file) {
        return new JsonText()
                .with("format", file.format())
                .with("bytes", file.bytes())
                .with("attributes", file.attributes())
                .with("arrays", file.arrays().stream().map(LsCommand::json).toList())
                .with("leftOut", file.leftOut())
                .lines();
    }

    private static JsonText json(Array array) {
        JsonText json = new JsonText()
                .with("name", array.name())
                .with("type", array.type().name())
                .with("shape", array.shape())
                .with("bytes", array.bytes())
                .with("order", array.order() == Array.Order.ROW_MAJOR ? "row-major" : "column-major")
                .with("byteOrder", array.byteOrder() == ByteOrder.BIG_ENDIAN ? "big-endian" : "little-endian");
        if (!(array.data() instanceof ArraySource source)) {
            return json.with("chunks", chunks(array));
        }
        Extent first = source.first();
        json.with("file", first.file().toString()).with("fileOffset", first.offset());
        return source instanceof FileBlocks rows ? json.with("rowStride", rows.stride()) : json;
    }
}
