// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.cufile;

import io.penstock.engine.host.LinuxFile;
import io.penstock.engine.spi.Limits;
import io.penstock.engine.spi.NativeFile;
import java.io.IOException;

/** A file as one route of cuFile's takes it. */
final class CuFileFile implements NativeFile {

    private final CuFileHandles handles;
    private final CuFileHandle handle;
    private final Limits limits;

    /** Takes over one opening of {@code handle}. */
    CuFileFile(CuFileHandles handles, CuFileHandle handle, Limits limits) {
        this.handles = handles;
        this.handle = handle;
        this.limits = limits;
    }

    /** Returns cuFile's handle. */
    long handle() {
        return handle.handle();
    }

    LinuxFile linux() {
        return handle.linux();
    }

    /** Notes a failure of a call, which may be cuFile's last word on this file. */
    void failed(long result) {
        handle.failed(result);
    }

    /** Returns why cuFile takes no more transfers of this file, or an empty string. */
    String refusal() {
        return handle.refusal();
    }

    @Override
    public Limits limits() {
        return limits;
    }

    @Override
    public Object identity() {
        return linux().identity();
    }

    @Override
    public long size() throws IOException {
        return linux().size();
    }

    @Override
    public void truncate(long bytes) throws IOException {
        linux().truncate(bytes);
    }

    @Override
    public void preallocate(long bytes) throws IOException {
        linux().preallocate(bytes);
    }

    @Override
    public void close() {
        handles.close(handle);
    }

    @Override
    public String toString() {
        return linux().toString();
    }
}
