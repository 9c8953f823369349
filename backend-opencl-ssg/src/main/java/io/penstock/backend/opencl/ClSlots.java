// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.opencl;

import io.penstock.engine.spi.IdleMemory;
import io.penstock.engine.staging.SlotNumbers;
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
    private final SlotNumbers<ClSlot> numbers = new SlotNumbers<>();

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
            ClSlot slot = known != null ? known : numbers.add(number -> ClSlot.allocate(context, number, kind));
            LIVE.incrementAndGet();
            return slot;
        } catch (RuntimeException e) {
            context.leave();
            throw e;
        }
    }

    /** Returns a slot that is taken, by its number. */
    ClSlot at(long number) {
        return numbers.at(number);
    }

    void give(ClSlot slot) {
        LIVE.decrementAndGet();
        if (!idle.keep(slot.kind(), slot)) {
            release(slot);
        }
        context.leave();
    }

    private void release(ClSlot slot) {
        slot.release();
        numbers.remove(slot.number());
    }

    /** Gives everything back: nothing is taken any more. */
    void close() {
        idle.drain(this::release);
    }
}
