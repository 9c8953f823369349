// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.nvme.path;

import io.penstock.engine.spi.NativeFile;
import java.io.IOException;

/**
 * A file whose bytes lie in blocks of one namespace.
 *
 * <p><b>Threading:</b> thread-safe; the methods of this type are called per transfer, and do not allocate.
 */
public interface NvmeFile extends NativeFile {

    /** Returns the identifier of the namespace. */
    int namespace();

    /** Returns the size of a block, which is the alignment of the file's limits. */
    int blockBytes();

    /** Returns the block of the namespace that holds a byte of the file. */
    long block(long fileOffset);

    /**
     * Returns how many of {@code bytes} from {@code fileOffset} on one command can read: fewer at the end of the file,
     * and where the blocks are not contiguous.
     */
    long readable(long fileOffset, long bytes) throws IOException;

    /**
     * Returns how many of {@code bytes} from {@code fileOffset} on one command can write; 0 beyond the space of the
     * file.
     */
    long writable(long fileOffset, long bytes) throws IOException;
}
