// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.opencl;

import io.penstock.engine.spi.IdleMemory;
import java.util.concurrent.atomic.AtomicLong;

/**
 * The slots of one context; a few are kept for reuse, since a driver takes long to pin memory, and an upload takes a slot.
 *
 * <p><b>Threading:</b> thread-safe.
 */
final class ClSlots {

    static final AtomicLong LIVE = new AtomicLong();

    private static final long MOST_IDLE_BYTES = 16L << 20;

    private final ClContext context;
    private final IdleMemory<ClSlot.Kind, ClSlot> idle = new IdleMemory<>(MOST_IDLE_BYTES, ClSlot::bytes);

    ClSlots(ClContext context) {
        this.context = context;
    }

    /**
     * Takes a slot.
     *
     * @throws io.penstock.TransientStorageException if there is no memory left
     */
    ClSlot take(ClSlot.Kind kind) {
        context.join();
        try {
            ClSlot known = idle.take(kind);
            ClSlot slot = known != null ? known : ClSlot.allocate(context, kind);
            LIVE.incrementAndGet();
            return slot;
        } catch (RuntimeException e) {
            context.leave();
            throw e;
        }
    }

    void give(ClSlot slot) {
        LIVE.decrementAndGet();
        if (!idle.keep(slot.kind(), slot)) {
            slot.release();
        }
        context.leave();
    }

    /** Gives everything back: nothing is taken any more. */
    void close() {
        idle.drain(ClSlot::release);
    }
}
