// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.gl;

import io.penstock.NativeError;
import io.penstock.PenstockException;
import io.penstock.engine.ffi.NativeMemory;
import io.penstock.engine.spi.Command;
import io.penstock.engine.spi.DeviceMemory;
import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.Map;

/**
 * Copies between GL's buffers and slots that GL does not know, by way of a mapped one of ours: uploads, downloads and
 * the edges of blocks come in plain memory, since to allocate theirs must not wait for the thread of the context.
 *
 * <p><b>Threading:</b> the thread of the context.
 */
final class HostSlotCopies {

    /** What is kept for reuse. */
    private static final int MOST_IDLE = 4;

    /** One that is under way; {@code bytes} go to {@code target} when it has ended, none if it is inward. */
    private record Copy(GlSlot through, long target, long bytes) {}

    private final GlContext context;
    private final GlCopies device;
    private final CopyFences fences;
    private final Map<Long, Copy> copies = new HashMap<>(); // by ticket
    private final ArrayDeque<GlSlot> idle = new ArrayDeque<>();

    HostSlotCopies(GlContext context, GlCopies device, CopyFences fences) {
        this.context = context;
        this.device = device;
        this.fences = fences;
    }

    long copyIn(Command command) {
        DeviceMemory slot = command.slot();
        GlSlot through;
        try {
            through = take(slot.bytes());
        } catch (PenstockException none) {
            return refused(none);
        }
        NativeMemory.copy(through.hostAddress(), slot.hostAddress() + command.slotOffset(), command.bytes());
        return started(device.fill(command, through.name(), through.start()), new Copy(through, 0, 0));
    }

    long copyOut(Command command) {
        DeviceMemory slot = command.slot();
        GlMemory source = (GlMemory) command.memory();
        GlSlot through;
        try {
            through = take(slot.bytes());
        } catch (PenstockException none) {
            return refused(none);
        }
        context.buffers().copy(source.name(), command.memoryOffset(), through.name(), through.start(), command.bytes());
        long ticket = fences.behind(GlCall.COPY);
        return started(ticket, new Copy(through, slot.hostAddress() + command.slotOffset(), command.bytes()));
    }

    private static long refused(PenstockException none) {
        NativeError error = none.nativeError().orElseThrow(() -> none);
        return GlCall.ALLOCATE.failed((int) error.code());
    }

    private long started(long ticket, Copy copy) {
        if (ticket < 0) {
            give(copy.through);
        } else {
            copies.put(ticket, copy);
        }
        return ticket;
    }

    /** Hears that a copy, perhaps one of these, has ended. */
    void ended(long ticket, boolean well) {
        Copy copy = copies.isEmpty() ? null : copies.remove(ticket);
        if (copy == null) {
            return;
        }
        if (well && copy.bytes > 0) {
            NativeMemory.copy(copy.target, copy.through.hostAddress(), copy.bytes);
        }
        give(copy.through);
    }

    private GlSlot take(long bytes) {
        GlSlot known = idle.poll();
        if (known != null && known.bytes() >= bytes) {
            return known;
        }
        if (known != null) {
            known.free();
        }
        return GlSlot.allocate(context, bytes, false);
    }

    private void give(GlSlot slot) {
        if (idle.size() < MOST_IDLE) {
            idle.push(slot);
        } else {
            slot.free();
        }
    }

    /** Gives everything back: the context is let go. */
    void close() {
        idle.forEach(GlSlot::free);
        idle.clear();
    }
}
