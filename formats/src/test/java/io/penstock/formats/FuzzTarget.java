// SPDX-License-Identifier: Apache-2.0
package io.penstock.formats;

import com.sun.management.ThreadMXBean;
import io.penstock.Backend;
import io.penstock.formats.codec.Codecs;
import io.penstock.formats.load.Assembly;
import io.penstock.formats.read.ArrowFiles;
import io.penstock.formats.read.FormatReader;
import io.penstock.formats.read.GgufReader;
import io.penstock.formats.read.NiftiReader;
import io.penstock.formats.read.NpyReader;
import io.penstock.formats.read.NpzReader;
import io.penstock.formats.read.SafetensorsIndexReader;
import io.penstock.formats.read.SafetensorsReader;
import io.penstock.formats.read.VecsReader;
import io.penstock.formats.read.ZarrReader;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;

/**
 * Reads any bytes as a file of one format, plans a load of its arrays, and decodes those in chunks. Allowed are the
 * exceptions that the API names; what a file names must lie in it; what it says twice must agree, where it is read; and
 * the heap that is allocated must be in proportion to the file.
 *
 * <p>The input of most formats is the file. Of Zarr it is the document, a byte of 0, and the one chunk or shard; of
 * {@code codecs} the number of the codec, and a chunk.
 */
final class FuzzTarget {

    // Without bzip2 and LZMA, whose libraries take memory that is not in proportion to their input.
    static final List<String> CODECS = List.of(
            "lz4",
            "lz4-frame",
            "blosc",
            "zstd",
            "gzip",
            "zlib",
            "deflate:00000000",
            "npy",
            "crc32c",
            "shuffle:4",
            "delta:<i4:<i2",
            "nifti:4");

    private static final Map<String, FormatReader> READERS = Map.of(
            "safetensors", new SafetensorsReader(),
            "index", new SafetensorsIndexReader(),
            "gguf", new GgufReader(),
            "npy", new NpyReader(),
            "npz", new NpzReader(),
            "zarr2", new ZarrReader(),
            "zarr3", new ZarrReader(),
            "arrow", new ArrowFiles(),
            "fvecs", new VecsReader(),
            "nifti", new NiftiReader());

    static final List<String> FORMATS = Stream.concat(READERS.keySet().stream().sorted(), Stream.of("codecs"))
            .toList();

    /**
     * The keys of a chunk by what the document has: all are names of the same bytes, for arrays of 1 to 3 dimensions.
     */
    private static final Map<String, List<String>> KEYS = Map.of(
            "zarr2", List.of("0", "0.0", "1.0.0"),
            "zarr2/", List.of("0", "1/0"),
            "zarr3", List.of("c/2", "c/0/0", "c/1/0/0"),
            "zarr3.", List.of("c.0", "c.0.1"),
            "zarr3v2", List.of("0", "0.1", "1.0.0"));

    private static final int DECODED_BYTES = 1 << 16; // the most of an array that is decoded
    private static final long FIXED_BYTES = 2 << 20; // of heap for a file of no bytes
    private static final long BYTES_PER_BYTE =
            1024; // of heap for a byte of the file: objects of an array's description
    private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

    private final String format;
    private final Path file;
    private final Path chunk;
    private final Backend backend;
    private String linked = ""; // of KEYS

    private FuzzTarget(String format, Path file, Path chunk, Backend backend) {
        this.format = format;
        this.file = file;
        this.chunk = chunk;
        this.backend = backend;
    }

    static FuzzTarget of(String format, Path folder, Backend backend) throws IOException {
        Path chunk = Files.createFile(folder.resolve("chunk"));
        Path array = Files.createDirectory(folder.resolve("array"));
        if (format.equals("index")) {
            for (int i = 1; i <= 3; i++) {
                String shard = "sharded-0000" + i + "-of-00003.safetensors";
                Files.copy(Real.file(shard), array.resolve(shard));
            }
        }
        String name = switch (format) {
            case "zarr2" -> ".zarray";
            case "zarr3" -> "zarr.json";
            default -> "file." + format;
        };
        return new FuzzTarget(format, array.resolve(name), chunk, backend);
    }

    /** What is measured. */
    interface Action {
        void run() throws IOException;
    }

    /** Throws an {@link AssertionError}, or what a reader must not throw. */
    void run(byte[] input) throws IOException {
        write(input);
        assertAllocates(FIXED_BYTES + BYTES_PER_BYTE * input.length, () -> accept(input));
    }

    /** Repeats an action that takes more: classes that are used for the first time need memory of their own. */
    static void assertAllocates(long mostBytes, Action action) throws IOException {
        long allocated = allocated(action);
        if (allocated > mostBytes) {
            allocated = Math.min(allocated, allocated(action));
        }
        if (allocated > mostBytes) {
            throw new AssertionError("at most " + mostBytes + " bytes of heap must be allocated, were " + allocated);
        }
    }

    private static long allocated(Action action) throws IOException {
        long before = THREADS.getCurrentThreadAllocatedBytes();
        action.run();
        return THREADS.getCurrentThreadAllocatedBytes() - before;
    }

    private void accept(byte[] input) throws IOException {
        FormatReader reader = READERS.get(format);
        if (reader == null) {
            decode(input);
        } else {
            read(reader);
        }
    }

    private void write(byte[] input) throws IOException {
        if (!format.startsWith("zarr")) {
            Files.write(file, input);
            return;
        }
        int end = 0;
        while (end < input.length && input[end] != 0) {
            end++;
        }
        byte[] document = Arrays.copyOf(input, end);
        Files.write(file, document);
        link(new String(document, StandardCharsets.ISO_8859_1));
        Files.write(chunk, Arrays.copyOfRange(input, Math.min(end + 1, input.length), input.length));
    }

    /** Gives the chunk the names that the document has for it: under others it would be refused. */
    private void link(String document) throws IOException {
        boolean encoded = format.equals("zarr3") && document.contains("\"v2\"");
        boolean other = document.contains(format.equals("zarr2") ? "\"/\"" : "\".\"");
        String naming = format + (encoded ? "v2" : !other ? "" : format.equals("zarr2") ? "/" : ".");
        if (naming.equals(linked)) {
            return;
        }
        for (String key : KEYS.getOrDefault(linked, List.of())) {
            Files.delete(file.resolveSibling(key));
        }
        for (String key : KEYS.getOrDefault(naming, List.of())) {
            Path name = file.resolveSibling(key);
            Files.createDirectories(name.resolveSibling(""));
            Files.createLink(name, chunk);
        }
        linked = naming;
    }

    private void read(FormatReader reader) throws IOException {
        ArrayFile read;
        try {
            read = reader.read(file, Set.of());
        } catch (MalformedFileException | IOException e) {
            return;
        }
        for (Array array : read.arrays()) {
            for (Extent extent : extents(array)) {
                if (extent.end() > Files.size(extent.file())) {
                    throw new AssertionError(array + " must end in its file of " + Files.size(extent.file()));
                }
            }
        }
        TwiceSaid.check(read, file);
        try {
            Loader.of(backend).formatOptions(FormatOption.DAMAGED_ARRAYS).explain(read);
        } catch (IllegalArgumentException e) {
            return; // too large, or of an unknown codec
        }
        for (Array array : read.arrays()) {
            if (array.data() instanceof Array.Data.Chunked && array.bytes() <= DECODED_BYTES) {
                assemble(array);
            }
        }
    }

    static List<Extent> extents(Array array) {
        return array.data() instanceof Array.Data.Chunked chunked
                ? chunked.chunks().stream().map(Array.ChunkData::extent).toList()
                : List.of(FileBlocks.of((ArraySource) array.data()).span());
    }

    private static void assemble(Array array) throws IOException {
        try {
            for (Assembly.Slab slab : Assembly.slabs(ChunkWindow.all(array), 1, DECODED_BYTES)) {
                slab.read();
            }
        } catch (MalformedFileException | IllegalArgumentException e) {
            // refused
        }
    }

    /** The decoders alone: without a sum that keeps all but a few inputs from them. */
    private void decode(byte[] input) {
        if (input.length == 0) {
            return;
        }
        String codec = CODECS.get((input[0] & 0xff) % CODECS.size());
        try {
            byte[] stored = Arrays.copyOfRange(input, 1, input.length);
            Codecs.decode(List.of(codec), stored, DECODED_BYTES);
            TwiceSaid.check(codec, stored, DECODED_BYTES);
        } catch (Codecs.Malformed e) {
            // refused
        }
    }
}
