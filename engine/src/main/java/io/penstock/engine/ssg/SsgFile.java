// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.ssg;

import io.penstock.engine.host.HostFile;
import io.penstock.engine.spi.Limits;
import io.penstock.engine.spi.NativeFile;
import java.io.IOException;

/** A file as one route of the extension's takes it: in whole blocks. */
public final class SsgFile implements NativeFile {

    private final SsgFiles files;
    private final SsgHandle handle;
    private final Limits limits;
    private final boolean readsIntoSlack;

    /**
     * Takes over one opening of {@code handle}.
     *
     * @param readsIntoSlack whether the vendor wants the end of a file read as a whole block
     */
    public SsgFile(SsgFiles files, SsgHandle handle, Limits limits, boolean readsIntoSlack) {
        this.files = files;
        this.handle = handle;
        this.limits = limits;
        this.readsIntoSlack = readsIntoSlack;
    }

    /** Returns the objects of the driver's. */
    public SsgHandle handle() {
        return handle;
    }

    /** Returns the file as the host has it. */
    public HostFile host() {
        return handle.host();
    }

    /** Returns what the driver's offsets and lengths are multiples of. */
    public long blockBytes() {
        return limits.fileAlignment();
    }

    @Override
    public Limits limits() {
        return limits;
    }

    @Override
    public boolean readsIntoSlack() {
        return readsIntoSlack;
    }

    @Override
    public Object identity() {
        return host().identity();
    }

    @Override
    public long size() throws IOException {
        return host().size();
    }

    @Override
    public void truncate(long bytes) throws IOException {
        host().truncate(bytes);
    }

    @Override
    public void preallocate(long bytes) throws IOException {
        host().preallocate(bytes);
    }

    @Override
    public void close() {
        files.close(handle);
    }

    @Override
    public String toString() {
        return host().toString();
    }
}
