// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.queue;

import io.penstock.BufferRegion;
import io.penstock.Transfer;
import io.penstock.engine.order.BusyRegions;

/**
 * A short read of bytes that the host has in memory, which the thread that opens it makes itself: a hop to the I/O queue
 * and back takes several times as long.
 */
public final class CachedRead {

    private CachedRead() {}

    /**
     * Makes it, and ends it, between its {@link OpenTransfer#admit} and its handover to the I/O queue.
     *
     * @return false if the I/O queue has to do it, since some of its bytes are not in memory, for example
     */
    public static boolean make(OpenTransfer open) {
        if (!open.here) {
            return false;
        }
        long now = open.port().nanos();
        // The state is read after the I/O queue was set: a cancel that did not see the queue, and so marked nothing
        // busy, is seen here.
        if (!open.isCancelled() && BusyRegions.ALL.isEmpty() && read(open)) {
            open.started(now);
            open.moved = open.transfer().length();
            open.finish(System.nanoTime(), null);
            return true;
        }
        open.here = false;
        return false;
    }

    /** Bytes that were read though some are missing are read again. */
    private static boolean read(OpenTransfer open) {
        Transfer transfer = open.transfer();
        long address = open.memory(0).hostAddress() + ((BufferRegion) transfer.target()).offset();
        return open.nativeFile(0).readCached(transfer.fileOffset(0), address, transfer.length()) == transfer.length();
    }
}
