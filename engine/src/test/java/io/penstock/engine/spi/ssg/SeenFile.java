// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.spi.ssg;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** A file object of a driver that sees no file grow; counts its users. */
final class SeenFile implements SsgFileObject {

    final Path path;
    final boolean write;
    int users = 1;
    private final long blockBytes;
    private final long bytes; // when it was opened

    SeenFile(Path path, boolean write, long blockBytes) throws SsgRefusal {
        this.path = path;
        this.write = write;
        this.blockBytes = blockBytes;
        try {
            this.bytes = Files.size(path);
        } catch (IOException e) {
            throw new SsgRefusal(path + " has no size");
        }
    }

    @Override
    public long blockBytes() {
        return blockBytes;
    }

    @Override
    public long bytes() {
        return bytes;
    }

    @Override
    public void retain() {
        users++;
    }

    @Override
    public void release() {
        users--;
    }
}
