// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.kit.ssg;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** A file object of a driver that sees no file grow; counts its users. */
final class SeenFile extends SsgFileObject {

    final Path path;
    final boolean write;
    int users = 1;
    boolean isFreed;
    boolean isBlind;
    private final long bytes; // when it was opened

    SeenFile(Path path, boolean write, long blockBytes) throws SsgRefusal {
        super(7, blockBytes);
        this.path = path;
        this.write = write;
        try {
            this.bytes = Files.size(path);
        } catch (IOException e) {
            throw new SsgRefusal(path + " has no size");
        }
    }

    @Override
    protected boolean covers(long end, long size) {
        return end <= bytes && !isBlind;
    }

    @Override
    public void retain() throws SsgRefusal {
        super.retain();
        users++;
    }

    @Override
    public void release() {
        super.release();
        users--;
    }

    @Override
    protected void free() {
        isFreed = true;
    }
}
