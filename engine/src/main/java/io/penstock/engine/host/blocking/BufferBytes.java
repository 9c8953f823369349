// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.host.blocking;

import io.penstock.engine.kit.ffi.Errno;
import io.penstock.engine.kit.file.HostFile;
import io.penstock.engine.spi.NativeFile;
import java.io.IOException;

/**
 * Reads and writes of one staging buffer. Results are as in {@link HostBytes}.
 *
 * <p><b>Threading:</b> one thread at a time, the holder of the staging buffer. The calls block until no native
 * operation uses the memory.
 *
 * <p><b>Ownership:</b> {@link #close} releases what is kept for the staging buffer, before its memory is freed.
 */
public interface BufferBytes {

    /**
     * Reads into memory once; the caller continues after a short read.
     *
     * @return the bytes read; 0 at the end of the file
     * @throws IOException if the failure has no error number
     */
    long read(NativeFile file, long fileOffset, long address, long bytes) throws IOException;

    /**
     * Writes from memory once; the caller continues after a short write.
     *
     * @throws IOException if the failure has no error number
     */
    long write(NativeFile file, long fileOffset, long address, long bytes) throws IOException;

    /**
     * Reads until the range is complete or the file ends. A count that ends inside a block means the end of the file,
     * or an interrupted read; where continuing from there is refused, the block is read again. If that returns no more,
     * the size of the file distinguishes the two. A file that reports a shorter length than was read ends where a read
     * returns 0 bytes; one that reports a longer one does not, see {@link HostFile#goesOnAt}.
     *
     * @param block the alignment of reads, as {@link HostBytes#blockBytes}; {@code fileOffset} and {@code address} have
     *     it
     * @return the bytes read, or the negative result of the call that failed
     * @throws IOException if the failure has no error number, or the rest of a block cannot be read
     */
    default long readToEnd(NativeFile file, long fileOffset, long address, long bytes, long block) throws IOException {
        long done = 0;
        int vain = 0;
        while (done < bytes) {
            long from = done & -block;
            long got = read(file, fileOffset + from, address + from, bytes - from);
            if (got > 0 && from + got <= done) {
                from = done;
                got = readAmidBlock(file, fileOffset + done, address + done, bytes - done);
                if (got == -Errno.EINVAL && ++vain <= HostFile.MOST_IN_VAIN) {
                    continue;
                }
                if (got == -Errno.EINVAL && file.size() > fileOffset + done) {
                    throw new IOException("read " + done + " bytes of " + bytes + " at " + fileOffset
                            + ", although the file is longer");
                }
                got = got == -Errno.EINVAL ? 0 : got;
            }
            if (got == 0 && file instanceof HostFile host && host.goesOnAt(fileOffset + done, vain++)) {
                continue;
            }
            if (got <= 0) {
                return got < 0 ? got : done;
            }
            done = from + got;
            vain = 0;
        }
        return done;
    }

    /**
     * Reads from an offset within a block; returns 0 if the file ends there, EINVAL if only whole blocks can be read.
     */
    private long readAmidBlock(NativeFile file, long fileOffset, long address, long bytes) throws IOException {
        long stated = file.size();
        if (stated >= fileOffset) {
            return stated == fileOffset ? 0 : -Errno.EINVAL;
        }
        return read(file, fileOffset, address, bytes);
    }

    /** Releases the staging buffer's memory. The staging buffer must have no holder. */
    default void close() {}
}
