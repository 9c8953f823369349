// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.dx11;

import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.BitSet;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * The slots of one device; a few are kept for reuse, since each upload takes one.
 *
 * <p><b>Threading:</b> thread-safe.
 */
final class Dx11Slots {

    static final AtomicLong LIVE = new AtomicLong();

    private static final long MOST_IDLE_BYTES = 16L << 20;

    private final Dx11Device device;
    private final Map<Long, ArrayDeque<Dx11Slot>> idle = new HashMap<>(); // by size
    private final BitSet numbers = new BitSet(); // of slots that there are
    private long idleBytes;
    private volatile @Nullable Dx11Slot[] byNumber = new Dx11Slot[0]; // replaced under this

    Dx11Slots(Dx11Device device) {
        this.device = device;
    }

    /**
     * Takes a slot.
     *
     * @throws io.penstock.TransientStorageException if there is no memory left
     */
    Dx11Slot take(long bytes) {
        device.join();
        try {
            Dx11Slot known = known(bytes);
            Dx11Slot slot = known != null ? known : make(bytes);
            LIVE.incrementAndGet();
            return slot;
        } catch (RuntimeException e) {
            device.leave();
            throw e;
        }
    }

    private Dx11Slot make(long bytes) {
        int number = number();
        try {
            Dx11Slot slot = Dx11Slot.allocate(device, number, bytes);
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

    private synchronized void number(int number, @Nullable Dx11Slot slot) {
        @Nullable Dx11Slot[] slots = Arrays.copyOf(byNumber, Math.max(byNumber.length, number + 1));
        slots[number] = slot;
        byNumber = slots;
        numbers.set(number, slot != null);
    }

    /** Returns a slot that is taken, by its number. */
    Dx11Slot at(long number) {
        return Objects.requireNonNull(byNumber[(int) number]);
    }

    private synchronized @Nullable Dx11Slot known(long bytes) {
        ArrayDeque<Dx11Slot> fitting = idle.get(bytes);
        Dx11Slot slot = fitting == null ? null : fitting.poll();
        idleBytes -= slot == null ? 0 : bytes;
        return slot;
    }

    void give(Dx11Slot slot) {
        LIVE.decrementAndGet();
        if (!keep(slot)) {
            release(slot);
        }
        device.leave();
    }

    private synchronized boolean keep(Dx11Slot slot) {
        // One that a lost device did not map again has no memory.
        if (!slot.isMapped() || idleBytes + slot.bytes() > MOST_IDLE_BYTES) {
            return false;
        }
        idleBytes += slot.bytes();
        idle.computeIfAbsent(slot.bytes(), bytes -> new ArrayDeque<>()).push(slot);
        return true;
    }

    private void release(Dx11Slot slot) {
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
