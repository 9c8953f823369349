// SPDX-License-Identifier: Apache-2.0
package io.penstock.formats;

import java.io.IOException;
import java.nio.file.Path;

/** Reads the metadata of one format. */
interface FormatReader {

    /** Returns whether a file looks like this format, by its name and its first bytes (at most 16; none of a directory). */
    boolean recognizes(Path path, byte[] start);

    /**
     * Reads the metadata.
     *
     * @throws MalformedFileException if the file is not valid
     */
    ArrayFile read(Path path) throws IOException;

    /**
     * Returns the reader for a file.
     *
     * @throws MalformedFileException if no reader recognizes it
     */
    static FormatReader of(Path path) throws IOException {
        throw new UnsupportedOperationException("to be written: tries each reader of a fixed list");
    }
}
