// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.cufile.file;

import io.penstock.backend.cufile.ffi.CuFile;
import io.penstock.engine.host.LinuxFile;
import io.penstock.engine.spi.Limits;
import io.penstock.engine.spi.NativeFailure;
import io.penstock.engine.spi.WrappedFile;
import io.penstock.engine.spi.ffi.LibC;

/** A file as one route of cuFile's takes it. */
public final class CuFileFile extends WrappedFile<LinuxFile> {

    private static final int SEEK_END = 2;
    private static final int SEEK_HOLE = 4;

    private final CuFileHandles handles;
    private final CuFileHandle handle;
    private final boolean direct;

    /**
     * Takes over one opening of {@code handle}.
     *
     * @param direct whether transfers of this file go directly, and not through host memory
     */
    public CuFileFile(CuFileHandles handles, CuFileHandle handle, Limits limits, boolean direct) {
        super(handle.linux(), limits);
        this.handles = handles;
        this.handle = handle;
        this.direct = direct;
    }

    /** Returns whether transfers of this file, as this route takes them, go directly. */
    public boolean isDirect() {
        return direct;
    }

    /** Returns cuFile's handle. */
    public long handle() {
        return handle.handle();
    }

    /** Notes a failure of a call, which may be cuFile's last word on this file. */
    public void failed(NativeFailure failure) {
        handle.failed(failure);
    }

    /** Returns whether batches take this file, as far as is known. */
    public boolean takesBatches() {
        return handle.takesBatches();
    }

    /** Notes that batches do not take this file. */
    public void refusesBatches(int error) {
        handle.refusesBatches(error);
    }

    /** Returns why cuFile takes no more transfers of this file, or an empty string. */
    public String refusal() {
        return handle.refusal();
    }

    /**
     * Returns how many bytes from {@code offset} on a read of {@code bytes} may leave as they are, since they lie in a
     * hole or between holes of the file; 0 where there are none. Bytes behind the end of the file are none of its holes.
     */
    public long sparseBytes(long offset, long bytes) {
        long hole = LibC.lseek(host().fd(), offset, SEEK_HOLE);
        if (hole < 0 || hole >= offset + bytes) {
            return 0; // behind the end, or no hole
        }
        long end = Math.min(end(), offset + bytes);
        return hole < end ? end - offset : 0;
    }

    /**
     * Returns how many bytes to ask cuFile for where {@code bytes} from {@code offset} on are wanted. From amid a block
     * over the end of the file it writes zeros behind what it says it has read (libcufile 1.15.1 on an H200), and no
     * byte of those was asked for (rule 206).
     */
    public long askedBytes(long offset, long bytes) {
        long left = offset % CuFile.BLOCK_BYTES == 0 ? bytes : end() - offset;
        return left > 0 ? Math.min(left, bytes) : bytes; // behind the end, or no end: the read will say so
    }

    /** Returns where the file ends now, or a negative number. Asked for single transfers: allocates nothing. */
    private long end() {
        // Nobody reads or writes from where the descriptor stands.
        return LibC.lseek(host().fd(), 0, SEEK_END);
    }

    @Override
    public void close() {
        handles.close(handle);
    }
}
