// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.gpu.file;

import io.penstock.backend.gpu.api.FileApi;
import io.penstock.engine.kit.WrappedFile;
import io.penstock.engine.kit.ffi.LibC;
import io.penstock.engine.kit.file.HostFile;
import io.penstock.engine.spi.Limits;

/** A file as one path of the file API uses it. */
public final class GpuFile extends WrappedFile<HostFile> {

    private static final int SEEK_END = 2;
    private static final int SEEK_HOLE = 4;

    private final FileHandles handles;
    private final FileHandle handle;
    private final boolean direct;

    /**
     * Takes over one opening of {@code handle}.
     *
     * @param direct true if transfers of this file go directly, not through host memory
     */
    public GpuFile(FileHandles handles, FileHandle handle, Limits limits, boolean direct) {
        super(handle.linux(), limits);
        this.handles = handles;
        this.handle = handle;
        this.direct = direct;
    }

    /** Returns true if transfers of this file on this path go directly. */
    public boolean isDirect() {
        return direct;
    }

    /** Returns its registration, shared by the paths of a backend. */
    public FileHandle handle() {
        return handle;
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
     * Returns how many bytes to request for {@code bytes} from {@code offset}. A read that starts inside a
     * block and crosses the end of the file writes zeros beyond the count it returns (libcufile 1.15.1 on an H200),
     * over bytes that were not requested (rule 206).
     */
    public long askedBytes(long offset, long bytes) {
        long left = offset % FileApi.BLOCK_BYTES == 0 ? bytes : end() - offset;
        return left > 0 ? Math.min(left, bytes) : bytes; // beyond the end, or an error that the read will report
    }

    /** Returns the current end of the file, or a negative number. Called per transfer: allocates nothing. */
    public long end() {
        // The descriptor's file position is not used otherwise.
        return LibC.lseek(host().fd(), 0, SEEK_END);
    }

    @Override
    public void close() {
        handles.close(handle);
    }
}
