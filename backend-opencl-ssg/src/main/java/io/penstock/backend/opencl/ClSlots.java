// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.opencl;

import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.BitSet;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * The slots of one context; a few are kept for reuse, since a driver takes long to pin memory, and an upload takes a slot.
 *
 * <p><b>Threading:</b> thread-safe.
 */
final class ClSlots {

    static final AtomicLong LIVE = new AtomicLong();

    private static final long MOST_IDLE_BYTES = 16L << 20;

    private final ClContext context;
    private final Map<ClSlot.Kind, ArrayDeque<ClSlot>> idle = new HashMap<>();
    private final BitSet numbers = new BitSet(); // of slots that there are
    private long idleBytes;
    private volatile @Nullable ClSlot[] byNumber = new ClSlot[0]; // replaced under this

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
            ClSlot known = known(kind);
            ClSlot slot = known != null ? known : make(kind);
            LIVE.incrementAndGet();
            return slot;
        } catch (RuntimeException e) {
            context.leave();
            throw e;
        }
    }

    private ClSlot make(ClSlot.Kind kind) {
        int number = number();
        try {
            ClSlot slot = ClSlot.allocate(context, number, kind);
            number(number, slot);
            return slot;
        } catch (RuntimeException e) {
            number(number, null);
            throw e;
        }
    }

    private synchronized int number() {
        int number = numbers.nextClearBit(0);
        numbers.set(number);
        return number;
    }

    private synchronized void number(int number, @Nullable ClSlot slot) {
        @Nullable ClSlot[] slots = Arrays.copyOf(byNumber, Math.max(byNumber.length, number + 1));
        slots[number] = slot;
        byNumber = slots;
        numbers.set(number, slot != null);
    }

    /** Returns a slot that is taken, by its number. */
    ClSlot at(long number) {
        return Objects.requireNonNull(byNumber[(int) number]);
    }

    private synchronized @Nullable ClSlot known(ClSlot.Kind kind) {
        ArrayDeque<ClSlot> fitting = idle.get(kind);
        ClSlot slot = fitting == null ? null : fitting.poll();
        idleBytes -= slot == null ? 0 : kind.bytes();
        return slot;
    }

    void give(ClSlot slot) {
        LIVE.decrementAndGet();
        if (!keep(slot)) {
            release(slot);
        }
        context.leave();
    }

    private synchronized boolean keep(ClSlot slot) {
        if (idleBytes + slot.bytes() > MOST_IDLE_BYTES) {
            return false;
        }
        idleBytes += slot.bytes();
        idle.computeIfAbsent(slot.kind(), kind -> new ArrayDeque<>()).push(slot);
        return true;
    }

    private void release(ClSlot slot) {
        slot.release();
        number(slot.number(), null);
    }

    /** Gives everything back: nothing is taken any more. */
    synchronized void close() {
        idle.values().forEach(slots -> slots.forEach(this::release));
        idle.clear();
        idleBytes = 0;
    }
}
