// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.cufile.file;

import io.penstock.backend.cufile.ffi.CuFile;
import io.penstock.engine.kit.WrappedFile;
import io.penstock.engine.kit.ffi.LibC;
import io.penstock.engine.kit.file.HostFile;
import io.penstock.engine.spi.Limits;
import io.penstock.engine.spi.NativeFailure;

/** A file as one path of cuFile uses it. */
public final class CuFileFile extends WrappedFile<HostFile> {

    private static final int SEEK_END = 2;
    private static final int SEEK_HOLE = 4;

    private final CuFileHandles handles;
    private final CuFileHandle handle;
    private final boolean direct;

    /**
     * Takes over one opening of {@code handle}.
     *
     * @param direct true if transfers of this file go directly, not through host memory
     */
    public CuFileFile(CuFileHandles handles, CuFileHandle handle, Limits limits, boolean direct) {
        super(handle.linux(), limits);
        this.handles = handles;
        this.handle = handle;
        this.direct = direct;
    }

    /** Returns true if transfers of this file on this path go directly. */
    public boolean isDirect() {
        return direct;
    }

    /** Returns cuFile's handle. */
    public long handle() {
        return handle.handle();
    }

    /** Records a failed call, after which cuFile may refuse this file. */
    public void failed(NativeFailure failure) {
        handle.failed(failure);
    }

    /** Returns false once batches have refused this file. */
    public boolean takesBatches() {
        return handle.takesBatches();
    }

    /** Records that batches refuse this file. */
    public void refusesBatches(int error) {
        handle.refusesBatches(error);
    }

    /** Returns why cuFile refuses further transfers of this file, or an empty string. */
    public String refusal() {
        return handle.refusal();
    }

    /**
     * Returns how many bytes from {@code offset} a read of {@code bytes} may leave unwritten, since they lie in a hole
     * or between holes of the file; 0 without holes. Bytes beyond the end of the file are not a hole.
     */
    public long sparseBytes(long offset, long bytes) {
        long hole = LibC.lseek(host().fd(), offset, SEEK_HOLE);
        if (hole < 0 || hole >= offset + bytes) {
            return 0; // beyond the end, or no hole
        }
        long end = Math.min(end(), offset + bytes);
        return hole < end ? end - offset : 0;
    }

    /**
     * Returns how many bytes to request from cuFile for {@code bytes} from {@code offset}. A read that starts inside a
     * block and crosses the end of the file writes zeros beyond the count it returns (libcufile 1.15.1 on an H200),
     * over bytes that were not requested (rule 206).
     */
    public long askedBytes(long offset, long bytes) {
        long left = offset % CuFile.BLOCK_BYTES == 0 ? bytes : end() - offset;
        return left > 0 ? Math.min(left, bytes) : bytes; // beyond the end, or an error that the read will report
    }

    /** Returns the current end of the file, or a negative number. Called per transfer: allocates nothing. */
    private long end() {
        // The descriptor's file position is not used otherwise.
        return LibC.lseek(host().fd(), 0, SEEK_END);
    }

    @Override
    public void close() {
        handles.close(handle);
    }
}
