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
 * Host memory in buffers, for bytes on their way between a file or a device and a peer. Registered with UCX once.
 *
 * <p>Thread-safe. A buffer belongs to its taker until {@link StagingBuffer#free}.
 */
final class Staging {

    private static final int BUFFERS = 8;

    private final UcxContext context;
    private final DeviceBuffer memory;
    private final long address;
    private final long registration;
    private final ArrayDeque<StagingBuffer> free = new ArrayDeque<>(); // guarded by this, as all below
    private final ArrayDeque<Consumer<@Nullable StagingBuffer>> waiting = new ArrayDeque<>();
    private boolean closed;
    private boolean released; // the memory
    private boolean handing; // a thread hands free buffers to waiters

    private Staging(UcxContext context, DeviceBuffer memory, long address) throws IOException {
        this.context = context;
        this.memory = memory;
        this.address = address;
        this.registration = context.map(address, memory.length(), Ucp.UCS_MEMORY_TYPE_HOST);
        for (int buffer = 0; buffer < BUFFERS; buffer++) {
            free.add(new StagingBuffer(buffer * AsyncFile.RANGE_BYTES));
        }
    }

    /** A range of {@link AsyncFile#RANGE_BYTES}. */
    final class StagingBuffer {

        private final long offset;

        private StagingBuffer(long offset) {
            this.offset = offset;
        }

        /** Returns its first bytes. */
        BufferRegion region(long bytes) {
            return memory.region(offset, bytes);
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
        DeviceBuffer memory = Objects.requireNonNull(
                backend.allocate(BUFFERS * AsyncFile.RANGE_BYTES).block());
        try {
            if (memory.hostView().isEmpty()) {
                throw new IllegalArgumentException(
                        "the backend of a listener must allocate host memory, was " + backend.name());
            }
            return new Staging(context, memory, Source.hostAddress(memory));
        } catch (IOException | RuntimeException | Error e) {
            memory.close();
            throw e;
        }
    }

    /** Takes a buffer, now or when one is freed; {@code taker} receives null if the memory is closed. */
    void take(Consumer<@Nullable StagingBuffer> taker) {
        StagingBuffer buffer = null;
        synchronized (this) {
            if (!closed) {
                buffer = waiting.isEmpty() ? free.poll() : null;
                if (buffer == null) {
                    waiting.add(taker);
                    return;
                }
            }
        }
        taker.accept(buffer);
    }

    private void freed(StagingBuffer buffer) {
        synchronized (this) {
            free.add(buffer);
            if (handing) {
                return; // within a taker, perhaps: one that frees its buffer at once does not call the next
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

    /**
     * Hands a free buffer to the longest waiter; returns false, and ends the handing, if there is none.
     */
    private boolean handOn() {
        StagingBuffer buffer;
        Consumer<@Nullable StagingBuffer> next;
        synchronized (this) {
            if (waiting.isEmpty() || free.isEmpty()) {
                handing = false;
                freeIfUnused();
                return false;
            }
            buffer = free.remove();
            next = waiting.remove();
        }
        next.accept(buffer);
        return true;
    }

    private synchronized void stopHanding() {
        handing = false;
    }

    private synchronized void freeIfUnused() {
        if (closed && !released && free.size() == BUFFERS) {
            released = true;
            context.unmap(registration);
            memory.close();
        }
    }

    /** Frees the memory once all buffers are given back. */
    void close() {
        ArrayDeque<Consumer<@Nullable StagingBuffer>> left;
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
