// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.nvme.controller;

import io.penstock.backend.nvme.bus.Bus;
import io.penstock.backend.nvme.bus.DmaMemory;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Objects;
import java.util.function.IntConsumer;
import org.jspecify.annotations.Nullable;

/**
 * The doorbells: the tail of each submission queue and the head of each completion queue, in registers, and where the
 * controller supports it in memory, which saves most writes of registers.
 *
 * <p><b>Threading:</b> thread-safe; each doorbell belongs to the thread of its queue pair.
 */
final class Doorbells {

    private static final int PAGE_BYTES = 4096;
    private static final VarHandle WORDS = MethodHandles.byteBufferViewVarHandle(int[].class, ByteOrder.LITTLE_ENDIAN);

    private final Bus bus;
    private final int stride;
    private @Nullable Shadow shadow; // written before the first queue pair, and after the last

    Doorbells(Bus bus, int stride) {
        this.bus = bus;
        this.stride = stride;
    }

    /** Rings the doorbell of a submission queue. */
    void tail(int queue, int tail) {
        ring(2 * queue, tail);
    }

    /** Rings the doorbell of a completion queue. */
    void head(int queue, int head) {
        ring(2 * queue + 1, head);
    }

    /** Returns the offset of a doorbell in BAR0. */
    int offset(int index) {
        return Registers.DOORBELLS + index * stride;
    }

    /**
     * The shadow doorbells and the event indices, a page each, laid out as the registers: a doorbell needs to be rung
     * only if the controller has announced, by the event index, that it does not look at the shadow any more.
     */
    private record Shadow(DmaMemory doorbells, ByteBuffer values, DmaMemory events, ByteBuffer indices) {

        static Shadow allocate(Bus bus) {
            DmaMemory doorbells = bus.allocate(PAGE_BYTES);
            try {
                DmaMemory events = bus.allocate(PAGE_BYTES);
                return new Shadow(doorbells, bytes(doorbells), events, bytes(events));
            } catch (RuntimeException | Error e) {
                doorbells.free();
                throw e;
            }
        }

        private static ByteBuffer bytes(DmaMemory memory) {
            ByteBuffer bytes = memory.buffer(0, PAGE_BYTES).order(ByteOrder.LITTLE_ENDIAN);
            for (int i = 0; i < PAGE_BYTES; i += Long.BYTES) {
                bytes.putLong(i, 0);
            }
            return bytes;
        }

        /** Sets a doorbell, and returns whether the controller must be notified by the register. */
        boolean set(int at, int value) {
            int old = (int) WORDS.get(values, at);
            WORDS.setRelease(values, at, value); // after the entries
            return TailDoorbell.isDue(indices, at, value, old);
        }

        void clear(int at) {
            values.putInt(at, 0);
            indices.putInt(at, 0);
        }

        void free() {
            doorbells.free();
            events.free();
        }
    }

    /**
     * Allocates shadow doorbells for the queue pairs that follow, unless there are some; a reset does not free them,
     * since another thread may be ringing. Returns false if a page is too small for them.
     */
    boolean allocateShadow() {
        if (shadow == null && stride == Integer.BYTES) {
            shadow = Shadow.allocate(bus);
        }
        return shadow != null;
    }

    /** Returns the bus address of the shadow doorbells; only if there are some. */
    long shadowAddress() {
        return Objects.requireNonNull(shadow).doorbells.busAddress();
    }

    /** Returns the bus address of the event indices; only if there are some. */
    long eventAddress() {
        return Objects.requireNonNull(shadow).events.busAddress();
    }

    /** Frees the shadow doorbells; no queue pair is open. */
    void freeShadow() {
        Shadow freed = shadow;
        shadow = null;
        if (freed != null) {
            freed.free();
        }
    }

    /** Prepares the doorbells of a queue pair that is about to be created. */
    void clear(int queue) {
        Shadow kept = shadow;
        if (kept != null) {
            kept.clear(2 * queue * stride);
            kept.clear((2 * queue + 1) * stride);
        }
    }

    private void ring(int index, int value) {
        Shadow kept = shadow;
        if (kept == null || index <= 1 || kept.set(index * stride, value)) {
            bus.write(offset(index), value);
        }
    }

    /** Returns the tail doorbell of a submission queue that others than this driver ring. */
    TailDoorbell tailDoorbell(int queue, int entries) {
        int index = 2 * queue;
        IntConsumer register = value -> bus.write(offset(index), value);
        Shadow kept = shadow;
        return kept == null
                ? TailDoorbell.polled(bus.allocate(PAGE_BYTES), offset(index), entries, register)
                : TailDoorbell.shadow(kept.doorbells, kept.events, index * stride, offset(index), entries, register);
    }
}
