// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.host.kernel;

import io.penstock.engine.kit.ffi.Errno;
import io.penstock.engine.kit.ffi.LibC;
import io.penstock.engine.kit.ffi.NativeMemory;
import io.penstock.engine.kit.ffi.PageCache;
import java.nio.ByteBuffer;

/**
 * The system calls of a file that has a descriptor; a simulated kernel implements them over its own files.
 *
 * <p><b>Result:</b> the return value of the call, or {@code -errno}; no method throws.
 *
 * <p><b>Threading:</b> thread-safe, as system calls are.
 */
public interface FileCalls {

    /** The system's calls. */
    FileCalls LINUX = new FileCalls() {
        @Override
        public long readCached(int fd, long address, long bytes, long offset) {
            return PageCache.read(fd, offset, address, bytes);
        }
    };

    /** Opens {@code path}, which ends with a zero byte; returns a descriptor. */
    default int open(byte[] path, int flags, int mode) {
        return LibC.orErrno(LibC.open(path, flags, mode));
    }

    /** Fills the {@code struct statx} at {@code statx}; {@code emptyPath} is the address of a zero byte. */
    default int status(int fd, int mask, long emptyPath, long statx) {
        return LibC.orErrno(LibC.statx(fd, mask, emptyPath, statx));
    }

    /**
     * Returns the number of the file system: {@code f_type}, the first field of {@code struct statfs} at
     * {@code statfs}.
     */
    default long fileSystem(int fd, ByteBuffer statfs) {
        int answer = LibC.orErrno(LibC.fstatfs(fd, NativeMemory.address(statfs)));
        return answer < 0 ? answer : statfs.getLong(0) & 0xFFFFFFFFL;
    }

    /** Returns the offset of the end, also for a block device. */
    default long seekEnd(int fd) {
        return LibC.orErrno(LibC.lseek(fd, 0, LibC.SEEK_END));
    }

    default int truncate(int fd, long bytes) {
        return LibC.orErrno(LibC.ftruncate(fd, bytes));
    }

    /** Reserves {@code bytes} bytes at {@code offset}. */
    default int allocate(int fd, long offset, long bytes) {
        return LibC.orErrno(LibC.fallocate(fd, 0, offset, bytes));
    }

    default long read(int fd, long address, long bytes, long offset) {
        return LibC.orErrno(LibC.pread(fd, address, bytes, offset));
    }

    /** Reads what the page cache has, as {@link PageCache#read}; by default nothing. */
    default long readCached(int fd, long address, long bytes, long offset) {
        return -Errno.EOPNOTSUPP;
    }

    default long write(int fd, long address, long bytes, long offset) {
        return LibC.orErrno(LibC.pwrite(fd, address, bytes, offset));
    }

    default int syncData(int fd) {
        return LibC.orErrno(LibC.fdatasync(fd));
    }

    default int close(int fd) {
        return LibC.orErrno(LibC.close(fd));
    }
}
