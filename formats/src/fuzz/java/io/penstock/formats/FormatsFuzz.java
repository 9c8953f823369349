// SPDX-License-Identifier: Apache-2.0
package io.penstock.formats;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;

/**
 * What Jazzer feeds: {@code ./mvnw -Pfuzz -pl formats -am test -DskipTests -Dfuzz.format=npz -Dfuzz.seconds=600}. A
 * reader, and the decoders behind it, accept any bytes or refuse them.
 */
public final class FormatsFuzz {

    private static final int MOST_BYTES = 1 << 16; // of an array that is decoded
    private static final Map<String, FormatReader> READERS = Map.of(
            "safetensors", new SafetensorsReader(),
            "index", new SafetensorsIndexReader(),
            "gguf", new GgufReader(),
            "npy", new NpyReader(),
            "npz", new NpzReader(),
            "nifti", new NiftiReader(),
            "arrow", new ArrowFiles(),
            "zarr", new ZarrReader());

    private static final String FORMAT = System.getProperty("fuzz.format", "npy");
    private static final Path FOLDER = folder();

    private FormatsFuzz() {}

    private static Path folder() {
        try {
            return Files.createTempDirectory("fuzz-" + FORMAT);
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Called by Jazzer. */
    public static void fuzzerTestOneInput(byte[] data) throws IOException {
        FormatReader reader = READERS.get(FORMAT);
        if (reader == null) {
            decode(data);
            return;
        }
        Path file = FOLDER.resolve(FORMAT.equals("zarr") ? "zarr.json" : "file");
        if (FORMAT.equals("zarr")) { // the document, a zero, and the first chunk or shard
            int end = 0;
            while (end < data.length && data[end] != 0) {
                end++;
            }
            Files.createDirectories(FOLDER.resolve("c/0"));
            Files.write(FOLDER.resolve("c/0/0"), Arrays.copyOfRange(data, Math.min(end + 1, data.length), data.length));
            Files.write(file, Arrays.copyOf(data, end));
        } else {
            Files.write(file, data);
        }
        ArrayFile read;
        try {
            read = reader.read(file);
        } catch (MalformedFileException | IOException e) {
            return; // refused; any other exception is a finding
        }
        for (Array array : read.arrays()) {
            if (array.data() instanceof Array.Data.Chunked && array.bytes() <= MOST_BYTES) {
                assemble(array);
            }
        }
    }

    private static void assemble(Array array) throws IOException {
        List<Assembly.Slab> slabs;
        try {
            slabs = Assembly.slabs(ChunkWindow.all(array), 1, MOST_BYTES);
        } catch (IllegalArgumentException e) {
            return; // an unknown codec, or too large
        }
        for (Assembly.Slab slab : slabs) {
            try {
                slab.read();
            } catch (MalformedFileException e) {
                return;
            }
        }
    }

    /** The decoders alone: without a sum that keeps all but a few inputs from them. */
    private static void decode(byte[] data) {
        Array.ChunkData chunk = new Array.ChunkData(
                List.of(), new Extent(Path.of("fuzz"), 0, data.length), List.of(FORMAT));
        try {
            Codecs.decode(chunk, data, MOST_BYTES);
        } catch (MalformedFileException e) {
            // refused
        }
    }
}
