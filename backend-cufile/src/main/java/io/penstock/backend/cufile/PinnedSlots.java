// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.cufile;

import io.penstock.PenstockException;
import io.penstock.engine.spi.IdleMemory;
import java.util.concurrent.atomic.AtomicLong;

/**
 * The pinned slots of one context; a few are kept for reuse, since pinning takes about a millisecond for a few
 * megabytes, and an upload takes a slot.
 *
 * <p><b>Threading:</b> thread-safe.
 */
final class PinnedSlots {

    static final AtomicLong LIVE = new AtomicLong();

    private static final long MOST_IDLE_BYTES = 16L << 20;

    private final CudaContext context;
    private final IdleMemory<PinnedSlot.Kind, PinnedSlot> idle = new IdleMemory<>(MOST_IDLE_BYTES, PinnedSlot::bytes);

    PinnedSlots(CudaContext context) {
        this.context = context;
    }

    /** Takes a slot in memory of the driver's, as below. */
    PinnedSlot take(long bytes) {
        return take(new PinnedSlot.Kind(bytes, SlotMemory.DRIVER));
    }

    /**
     * Takes a slot.
     *
     * @throws io.penstock.TransientStorageException if no more memory can be pinned
     */
    PinnedSlot take(PinnedSlot.Kind kind) {
        context.join();
        try {
            PinnedSlot known = idle.take(kind);
            PinnedSlot slot = known != null ? known : context.run("pinning", () -> PinnedSlot.allocate(context, kind));
            LIVE.incrementAndGet();
            return slot;
        } catch (RuntimeException e) {
            context.leave();
            throw e;
        }
    }

    void give(PinnedSlot slot) {
        LIVE.decrementAndGet();
        if (!idle.keep(slot.kind(), slot)) {
            release(slot);
        }
        context.leave();
    }

    private void release(PinnedSlot slot) {
        try {
            context.run("release of a slot", () -> {
                slot.release();
                return slot;
            });
        } catch (PenstockException lost) {
            // the context is gone, and what was made in it
        }
    }

    /** Gives everything back: nothing is taken any more. */
    void close() {
        idle.drain(this::release);
    }
}
