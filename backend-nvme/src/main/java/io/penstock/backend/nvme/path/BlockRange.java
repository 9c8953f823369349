// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.nvme.path;

import io.penstock.backend.nvme.controller.Namespace;
import io.penstock.engine.spi.Limits;
import java.io.IOException;
import java.nio.file.FileSystemException;

/**
 * A range of blocks of a namespace, as a file of fixed length.
 *
 * @param name as it was opened, for messages
 * @param identity equal for two openings of the same range
 * @param space the namespace
 * @param first the first block
 * @param size the length in bytes
 * @param limits of commands
 */
record BlockRange(String name, Object identity, Namespace space, long first, long size, Limits limits)
        implements NvmeFile {

    @Override
    public int namespace() {
        return space.id();
    }

    @Override
    public int blockBytes() {
        return space.blockBytes();
    }

    @Override
    public long block(long fileOffset) {
        return first + fileOffset / space.blockBytes();
    }

    @Override
    public long readable(long fileOffset, long bytes) {
        return Math.max(0, Math.min(bytes, size - fileOffset));
    }

    @Override
    public long writable(long fileOffset, long bytes) {
        return readable(fileOffset, bytes);
    }

    @Override
    public void truncate(long bytes) throws IOException {
        if (bytes != size) {
            throw fixed();
        }
    }

    @Override
    public void preallocate(long bytes) throws IOException {
        if (bytes > size) {
            throw fixed();
        }
    }

    private IOException fixed() {
        return new FileSystemException(
                name, null, "the length of a range of blocks is fixed, and is " + size + " bytes");
    }

    @Override
    public void close() {
        // nothing is open
    }

    @Override
    public String toString() {
        return name;
    }
}
