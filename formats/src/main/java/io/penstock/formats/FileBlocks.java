// SPDX-License-Identifier: Apache-2.0
package io.penstock.formats;

import java.nio.file.Path;
import java.util.Objects;

/**
 * Blocks of equal length at equal distances in a file: the bytes of a slice of an array, in their order; or the rows of
 * a matrix with something else between them.
 *
 * @param file the file
 * @param offset where the first block starts
 * @param length the bytes of a block
 * @param stride the bytes from the start of a block to the start of the next
 * @param count the number of blocks, at least 1
 */
public record FileBlocks(Path file, long offset, long length, long stride, long count)
        implements ArraySource, Array.Data {

    /** Checks the numbers. */
    public FileBlocks {
        Objects.requireNonNull(file, "file");
        if (offset < 0 || length < 0 || stride < length || count < 1) {
            throw new IllegalArgumentException("blocks must not overlap, and be at least 1, were " + count + " of "
                    + length + " bytes every " + stride + " from " + offset);
        }
    }

    /** Returns an extent as one block, and blocks as they are. */
    static FileBlocks of(ArraySource source) {
        return source instanceof Extent extent
                ? new FileBlocks(extent.file(), extent.offset(), extent.length(), extent.length(), 1)
                : (FileBlocks) source;
    }

    @Override
    public Extent first() {
        return new Extent(file, offset, length);
    }

    /** Returns the bytes from the first block to the last, and those between them. */
    Extent span() {
        return new Extent(file, offset, stride * (count - 1) + length);
    }

    /** Returns the bytes of all blocks. */
    @Override
    public long bytes() {
        return length * count;
    }
}
