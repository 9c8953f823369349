// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.dx11;

import io.penstock.engine.host.HostFile;
import io.penstock.engine.spi.Limits;
import io.penstock.engine.spi.NativeFile;
import java.io.IOException;

/** A file as one route of the extension's takes it: in whole blocks. */
final class SsgFile implements NativeFile {

    private final SsgFiles files;
    private final SsgHandle handle;
    private final Limits limits;

    /** Takes over one opening of {@code handle}. */
    SsgFile(SsgFiles files, SsgHandle handle, Limits limits) {
        this.files = files;
        this.handle = handle;
        this.limits = limits;
    }

    SsgHandle handle() {
        return handle;
    }

    HostFile host() {
        return handle.host();
    }

    long blockBytes() {
        return limits.fileAlignment();
    }

    @Override
    public Limits limits() {
        return limits;
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
