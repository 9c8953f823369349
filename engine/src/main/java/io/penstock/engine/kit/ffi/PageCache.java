// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.kit.ffi;

/** What the kernel keeps of files in memory. */
public final class PageCache {

    private static final long WINDOW = 256L << 20; // whose pages have a byte each

    private PageCache() {}

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
