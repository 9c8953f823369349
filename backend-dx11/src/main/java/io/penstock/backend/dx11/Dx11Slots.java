// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.dx11;

import io.penstock.engine.spi.IdleMemory;
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
            Dx11Slot slot = known != null ? known : Dx11Slot.allocate(device, bytes);
            LIVE.incrementAndGet();
            return slot;
        } catch (RuntimeException e) {
            device.leave();
            throw e;
        }
    }

    void give(Dx11Slot slot) {
        LIVE.decrementAndGet();
        // One that a lost device did not map again has no memory.
        if (!slot.isMapped() || !idle.keep(slot.bytes(), slot)) {
            slot.release();
        }
        device.leave();
    }

    /** Gives everything back: nothing is taken any more. */
    void close() {
        idle.drain(Dx11Slot::release);
    }
}
