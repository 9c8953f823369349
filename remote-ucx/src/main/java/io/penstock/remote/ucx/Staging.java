// SPDX-License-Identifier: Apache-2.0
package io.penstock.remote.ucx;

import io.penstock.Backend;
import io.penstock.BufferRegion;
import io.penstock.DeviceBuffer;
import io.penstock.engine.spi.AsyncFile;
import io.penstock.remote.ucx.ffi.Ucp;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.Objects;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Host memory in slots, for bytes on their way between a file or a device and a peer. Registered with UCX once.
 *
 * <p>Thread-safe. A slot belongs to its taker until {@link Slot#free}.
 */
final class Staging {

    private static final int SLOTS = 8;

    private final UcxContext context;
    private final DeviceBuffer buffer;
    private final long address;
    private final long registration;
    private final ArrayDeque<Slot> free = new ArrayDeque<>(); // guarded by this, as all below
    private final ArrayDeque<Consumer<@Nullable Slot>> waiting = new ArrayDeque<>();
    private boolean closed;
    private boolean released; // the memory
    private boolean handing; // a thread hands free slots to those that wait

    private Staging(UcxContext context, DeviceBuffer buffer, long address) throws IOException {
        this.context = context;
        this.buffer = buffer;
        this.address = address;
        this.registration = context.map(address, buffer.length(), Ucp.UCS_MEMORY_TYPE_HOST);
        for (int slot = 0; slot < SLOTS; slot++) {
            free.add(new Slot(slot * AsyncFile.RANGE_BYTES));
        }
    }

    /** A range of {@link AsyncFile#RANGE_BYTES}. */
    final class Slot {

        private final long offset;

        private Slot(long offset) {
            this.offset = offset;
        }

        /** Returns its first bytes. */
        BufferRegion region(long bytes) {
            return buffer.region(offset, bytes);
        }

        /** Returns the address of its first byte. */
        long address() {
            return address + offset;
        }

        /** Gives it back; its taker does not use it any more. */
        void free() {
            freed(this);
        }
    }

    /**
     * Allocates the memory; blocks.
     *
     * @throws IllegalArgumentException if the memory of the backend is not host memory
     */
    static Staging open(Backend backend) throws IOException {
        UcxContext context = UcxContext.get();
        DeviceBuffer buffer = Objects.requireNonNull(
                backend.allocate(SLOTS * AsyncFile.RANGE_BYTES).block());
        try {
            if (buffer.hostView().isEmpty()) {
                throw new IllegalArgumentException(
                        "the backend of a listener must allocate host memory, was " + backend.name());
            }
            return new Staging(context, buffer, Source.hostAddress(buffer));
        } catch (IOException | RuntimeException | Error e) {
            buffer.close();
            throw e;
        }
    }

    /** Takes a slot, now or when one is freed; {@code taker} receives null if the memory is closed. */
    void take(Consumer<@Nullable Slot> taker) {
        Slot slot = null;
        synchronized (this) {
            if (!closed) {
                slot = waiting.isEmpty() ? free.poll() : null;
                if (slot == null) {
                    waiting.add(taker);
                    return;
                }
            }
        }
        taker.accept(slot);
    }

    private void freed(Slot slot) {
        synchronized (this) {
            free.add(slot);
            if (handing) {
                return; // within a taker, perhaps: one that frees its slot at once does not call the next
            }
            handing = true;
        }
        try {
            boolean more = true;
            while (more) {
                more = handOn();
            }
        } catch (RuntimeException | Error e) { // of a taker
            stopHanding();
            throw e;
        }
    }

    /** Hands a free slot to the one that has waited longest; returns false, and ends the handing, if there is none. */
    private boolean handOn() {
        Slot slot;
        Consumer<@Nullable Slot> next;
        synchronized (this) {
            if (waiting.isEmpty() || free.isEmpty()) {
                handing = false;
                freeIfUnused();
                return false;
            }
            slot = free.remove();
            next = waiting.remove();
        }
        next.accept(slot);
        return true;
    }

    private synchronized void stopHanding() {
        handing = false;
    }

    private synchronized void freeIfUnused() {
        if (closed && !released && free.size() == SLOTS) {
            released = true;
            context.unmap(registration);
            buffer.close();
        }
    }

    /** Frees the memory once all slots are given back. */
    void close() {
        ArrayDeque<Consumer<@Nullable Slot>> left;
        synchronized (this) {
            if (closed) {
                return;
            }
            closed = true;
            left = new ArrayDeque<>(waiting);
            waiting.clear();
            freeIfUnused();
        }
        left.forEach(taker -> taker.accept(null));
    }
}
