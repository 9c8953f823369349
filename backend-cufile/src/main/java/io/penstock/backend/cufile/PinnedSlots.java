// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.cufile;

import io.penstock.PenstockException;
import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

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
    private final Map<PinnedSlot.Kind, ArrayDeque<PinnedSlot>> idle = new HashMap<>();
    private long idleBytes;

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
            PinnedSlot known = known(kind);
            PinnedSlot slot = known != null ? known : context.run("pinning", () -> PinnedSlot.allocate(context, kind));
            LIVE.incrementAndGet();
            return slot;
        } catch (RuntimeException e) {
            context.leave();
            throw e;
        }
    }

    private synchronized @Nullable PinnedSlot known(PinnedSlot.Kind kind) {
        ArrayDeque<PinnedSlot> fitting = idle.get(kind);
        PinnedSlot slot = fitting == null ? null : fitting.poll();
        idleBytes -= slot == null ? 0 : kind.bytes();
        return slot;
    }

    void give(PinnedSlot slot) {
        LIVE.decrementAndGet();
        if (!keep(slot)) {
            release(slot);
        }
        context.leave();
    }

    private synchronized boolean keep(PinnedSlot slot) {
        if (idleBytes + slot.bytes() > MOST_IDLE_BYTES) {
            return false;
        }
        idleBytes += slot.bytes();
        idle.computeIfAbsent(slot.kind(), kind -> new ArrayDeque<>()).push(slot);
        return true;
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
    synchronized void close() {
        idle.values().forEach(slots -> slots.forEach(this::release));
        idle.clear();
        idleBytes = 0;
    }
}
