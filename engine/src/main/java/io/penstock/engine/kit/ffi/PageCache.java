// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.kit.ffi;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.concurrent.atomic.AtomicIntegerArray;

/** What the kernel keeps of files in memory. */
public final class PageCache {

    private static final long WINDOW = 256L << 20; // whose pages have a byte each

    private static final int IOVECS = 64;
    private static final int LINE = 64; // bytes of a cache line: threads do not share one
    private static final int LENGTH = Long.BYTES; // of the memory, behind its address
    private static final ByteBuffer MEMORY =
            ByteBuffer.allocateDirect(IOVECS * LINE).order(ByteOrder.nativeOrder());
    private static final long ADDRESS = NativeMemory.address(MEMORY);
    private static final AtomicIntegerArray TAKEN = new AtomicIntegerArray(IOVECS * LINE / Integer.BYTES);

    private PageCache() {}

    /**
     * Reads bytes that it has into the memory at {@code address}, without waiting for a disk.
     *
     * @return how many were read, perhaps not all, or {@code -errno}: EAGAIN if none are there, EOPNOTSUPP if the file
     *     system does not tell
     */
    public static long read(int fd, long offset, long address, long bytes) {
        int iovec = (int) (Thread.currentThread().getId() % IOVECS);
        int at = iovec * LINE;
        int taken = at / Integer.BYTES;
        if (!TAKEN.compareAndSet(taken, 0, 1)) { // by a thread of another number
            return -Errno.EAGAIN;
        }
        try {
            MEMORY.putLong(at, address).putLong(at + LENGTH, bytes);
            return LibC.orErrno(LibC.readNow(fd, ADDRESS + at, offset));
        } finally {
            TAKEN.set(taken, 0);
        }
    }

    /**
     * Returns whether it has all bytes from {@code offset} on; reads nothing. False if the kernel does not tell. If the
     * user neither owns the file nor may write to it, the kernel reports every page as present (mincore(2), since Linux
     * 5.2).
     *
     * @param fd open for reading, and kept open by the caller
     */
    public static boolean holds(int fd, long offset, long bytes) {
        long page = LibC.pageSize();
        byte[] pages = new byte[(int) ((Math.min(WINDOW, bytes) + 2 * page) / page)];
        long end = offset + bytes;
        for (long at = offset / page * page; at < end; at += WINDOW) {
            if (!holds(fd, at, Math.min(WINDOW, end - at), page, pages)) {
                return false;
            }
        }
        return true;
    }

    private static boolean holds(int fd, long start, long bytes, long page, byte[] pages) {
        long address = LibC.mmap(0, bytes, LibC.PROT_READ, LibC.MAP_SHARED, fd, start);
        if (address == -1) {
            return false; // such as a file of FUSE that goes past the page cache
        }
        try {
            if (LibC.mincore(address, bytes, pages) != 0) {
                return false;
            }
            for (int i = 0; i < (bytes + page - 1) / page; i++) {
                if ((pages[i] & 1) == 0) {
                    return false;
                }
            }
            return true;
        } finally {
            LibC.munmap(address, bytes);
        }
    }
}
