// SPDX-License-Identifier: Apache-2.0
package io.penstock;

import java.util.Objects;

/**
 * The bytes of a file from {@code offset} to {@code offset + length}.
 *
 * @param offset in bytes from the start of the file, at least 0
 * @param length in bytes, at least 0
 */
public record FileRegion(StorageFile file, long offset, long length) {

    public FileRegion {
        Objects.requireNonNull(file, "file");
        if (offset < 0 || length < 0 || offset + length < 0) {
            throw new IllegalArgumentException(
                    "offset and length of a region must be at least 0, and end within a long, were " + offset + " and "
                            + length + ", of " + file.path());
        }
    }

    /** Returns the offset of the first byte behind the region. */
    public long end() {
        return offset + length;
    }

    /**
     * Returns a part of this region.
     *
     * @param offset from the start of this region
     * @throws IndexOutOfBoundsException if the part does not lie inside this region
     */
    public FileRegion slice(long offset, long length) {
        Objects.checkFromIndexSize(offset, length, this.length);
        return new FileRegion(file, this.offset + offset, length);
    }
}
