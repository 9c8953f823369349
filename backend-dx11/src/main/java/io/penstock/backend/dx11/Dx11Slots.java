// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.dx11;

import io.penstock.engine.spi.IdleMemory;
import io.penstock.engine.staging.SlotNumbers;
import java.util.concurrent.atomic.AtomicLong;

/**
 * The slots of one device; a few are kept for reuse, since each upload takes one.
 *
 * <p><b>Threading:</b> thread-safe.
 */
final class Dx11Slots {

    static final AtomicLong LIVE = new AtomicLong();

    private static final long MOST_IDLE_BYTES = 16L << 20;

    private final Dx11Device device;
    private final IdleMemory<Long, Dx11Slot> idle = new IdleMemory<>(MOST_IDLE_BYTES, Dx11Slot::bytes); // by size
    private final SlotNumbers<Dx11Slot> numbers = new SlotNumbers<>();

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
            Dx11Slot known = idle.take(bytes);
            Dx11Slot slot = known != null ? known : numbers.add(number -> Dx11Slot.allocate(device, number, bytes));
            LIVE.incrementAndGet();
            return slot;
        } catch (RuntimeException e) {
            device.leave();
            throw e;
        }
    }

    /** Returns a slot that is taken, by its number. */
    Dx11Slot at(long number) {
        return numbers.at(number);
    }

    void give(Dx11Slot slot) {
        LIVE.decrementAndGet();
        // One that a lost device did not map again has no memory.
        if (!slot.isMapped() || !idle.keep(slot.bytes(), slot)) {
            release(slot);
        }
        device.leave();
    }

    private void release(Dx11Slot slot) {
        slot.release();
        numbers.remove(slot.number());
    }

    /** Gives everything back: nothing is taken any more. */
    void close() {
        idle.drain(this::release);
    }
}
