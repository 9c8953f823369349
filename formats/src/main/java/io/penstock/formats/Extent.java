// SPDX-License-Identifier: Apache-2.0
package io.penstock.formats;

import java.nio.file.Path;
import java.util.Objects;

/**
 * Bytes of a file.
 *
 * @param file the file
 * @param offset where they start
 * @param length how many they are; 0 for an array without elements
 */
public record Extent(Path file, long offset, long length) implements ArraySource, Array.Data {

    /** Checks the numbers. */
    public Extent {
        Objects.requireNonNull(file, "file");
        if (offset < 0 || length < 0 || offset + length < 0) {
            throw new IllegalArgumentException(
                    "offset and length must be at least 0 and end within a long, were " + offset + " and " + length);
        }
    }

    @Override
    public long bytes() {
        return length;
    }

    @Override
    public Extent first() {
        return this;
    }

    /** Returns where the bytes end. */
    public long end() {
        return offset + length;
    }
}
