// SPDX-License-Identifier: Apache-2.0
package io.penstock.formats.read;

import io.penstock.formats.ArrayFile;
import io.penstock.formats.FormatOption;
import io.penstock.formats.MalformedFileException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;

/** Reads the metadata of one format. */
public interface FormatReader {

    /** The most bytes that {@link #recognizes} gets. */
    int START_BYTES = FileStart.BYTES;

    /**
     * Returns whether a file looks like this format, by its name and its first bytes (none of a directory).
     */
    boolean recognizes(Path path, byte[] start);

    /**
     * Reads the metadata.
     *
     * @param permitted what is permitted though the format forbids it, if that is anything of this format
     * @throws MalformedFileException if the file is not valid
     */
    ArrayFile read(Path path, Set<FormatOption> permitted) throws IOException;

    /**
     * Returns the readers, in the order in which they are tried: formats with a magic number first, so that a name does
     * not hide what a file is.
     */
    private static List<FormatReader> all() {
        return List.of(
                new GgufReader(), //
                new ArrowFiles(),
                new NpyReader(),
                new NpzReader(),
                new VecsReader(), // its first bytes are a dimension, and a header of NIfTI begins with 348
                new NiftiReader(),
                new ZarrReader(),
                new SafetensorsIndexReader(),
                new SafetensorsReader());
    }

    /**
     * Returns the reader for a file.
     *
     * @throws MalformedFileException if no reader recognizes it
     */
    static FormatReader of(Path path) throws IOException {
        byte[] start = start(path);
        for (FormatReader reader : all()) {
            if (reader.recognizes(path, start)) {
                return reader;
            }
        }
        throw new MalformedFileException(path, "array", unknown(path, start));
    }

    /** Returns why no reader recognizes a file. */
    private static String unknown(Path path, byte[] start) throws IOException {
        if (Files.isDirectory(path)) {
            return "it is a folder, without an array or a group of Zarr";
        }
        if (start.length == 0) {
            return "it is empty";
        }
        String other = FileStart.other(start, Files.size(path), "array");
        return other != null ? other : "neither its name nor its first bytes belong to a format that can be read";
    }

    private static byte[] start(Path path) throws IOException {
        if (Files.isDirectory(path)) {
            return new byte[0];
        }
        HeaderBytes.refusePipe(path);
        try (InputStream in = Files.newInputStream(path)) {
            return in.readNBytes(START_BYTES);
        }
    }
}
