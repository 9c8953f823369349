// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.nvme.controller;

import io.penstock.backend.nvme.bus.Bus;
import io.penstock.backend.nvme.bus.DmaMemory;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * The PRP lists of the commands of a queue pair, one per command identifier. They are packed: a list that crosses a
 * page is chained, the last entry of the page being the address of the rest.
 *
 * <p><b>Threading:</b> the thread of the queue pair. {@link #second} does not allocate.
 */
public final class PrpLists {

    /** The size of the pages that entries point to. */
    public static final int PAGE_BYTES = 4096;

    private final DmaMemory memory;
    private final ByteBuffer entries;
    private final int listBytes;

    /**
     * Allocates lists.
     *
     * @param lists how many
     * @param maxBytes the most bytes of a command
     */
    public PrpLists(Bus bus, int lists, long maxBytes) {
        int pages = (int) ((maxBytes + PAGE_BYTES - 1) / PAGE_BYTES); // pages behind the first, which may be a part
        listBytes = (pages + 1 + pages / (PAGE_BYTES / Long.BYTES - 1)) * Long.BYTES;
        memory = bus.allocate((long) lists * listBytes);
        entries = memory.buffer(0, (int) memory.bytes()).order(ByteOrder.LITTLE_ENDIAN);
    }

    /** Returns whether the two PRPs of a command are not enough for its data. */
    public static boolean areNeeded(long address, long bytes) {
        return (address & PAGE_BYTES - 1) + bytes > 2 * PAGE_BYTES;
    }

    /**
     * Returns the second PRP of a command, after writing the list that it points to, if any; the first PRP is the
     * address itself.
     *
     * @param list the command's identifier
     * @param address bus address of the data, a multiple of 4
     */
    public long second(int list, long address, long bytes) {
        long end = address + bytes;
        long page = (address | PAGE_BYTES - 1) + 1;
        if (page >= end) {
            return 0;
        }
        if (end - page <= PAGE_BYTES) {
            return page;
        }
        int start = list * listBytes;
        int at = start;
        while (page < end) {
            boolean isLastOfPage = (at + Long.BYTES) % PAGE_BYTES == 0;
            if (isLastOfPage && end - page > PAGE_BYTES) {
                entries.putLong(at, memory.busAddress() + at + Long.BYTES);
            } else {
                entries.putLong(at, page);
                page += PAGE_BYTES;
            }
            at += Long.BYTES;
        }
        return memory.busAddress() + start;
    }

    /** Frees the memory. */
    public void free() {
        memory.free();
    }
}
