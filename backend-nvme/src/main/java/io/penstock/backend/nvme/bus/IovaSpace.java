// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.nvme.bus;

import java.util.Map;
import java.util.TreeMap;

/**
 * A range of bus addresses, of which parts are in use: first fit, in pages of 4096 bytes.
 *
 * <p><b>Threading:</b> thread-safe.
 */
public final class IovaSpace {

    private static final int PAGE = 4096;

    private final TreeMap<Long, Long> free = new TreeMap<>(); // start to length; guarded by this

    /** Creates a range without parts in use; both numbers are multiples of 4096. */
    public IovaSpace(long start, long length) {
        free.put(start, length);
    }

    /** Returns the smallest multiple of 4096 that is not below {@code bytes}. */
    public static long pages(long bytes) {
        return bytes + PAGE - 1 & -PAGE;
    }

    /** Takes a part of at least {@code bytes}, and returns its first address; -1 if no gap is large enough. */
    public synchronized long take(long bytes) {
        long pages = pages(bytes);
        long start = -1;
        long length = 0;
        for (Map.Entry<Long, Long> gap : free.entrySet()) {
            if (gap.getValue() >= pages) {
                start = gap.getKey();
                length = gap.getValue();
                break;
            }
        }
        if (start >= 0) {
            free.remove(start);
            if (length > pages) {
                free.put(start + pages, length - pages);
            }
        }
        return start;
    }

    /** Gives a part back. */
    public synchronized void give(long start, long bytes) {
        long from = start;
        long length = pages(bytes);
        Long after = free.remove(start + length);
        length += after == null ? 0 : after;
        Map.Entry<Long, Long> before = free.lowerEntry(from);
        if (before != null && before.getKey() + before.getValue() == from) {
            from = before.getKey();
            length += before.getValue();
        }
        free.put(from, length);
    }
}
