// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.nvme.controller;

import io.penstock.backend.nvme.bus.DmaMemory;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.function.IntConsumer;
import org.jspecify.annotations.Nullable;

/**
 * The tail doorbell of a submission queue that another processor or device rings, by a store to a word in memory. The
 * word is the controller's shadow doorbell, or, if it has none, a word that only this driver reads. {@link #forward}
 * writes the register where the controller would not see the word by itself.
 *
 * <p><b>Threading:</b> one thread at a time, beside the thread that rings. No method allocates.
 */
public final class TailDoorbell {

    private static final VarHandle WORDS = MethodHandles.byteBufferViewVarHandle(int[].class, ByteOrder.LITTLE_ENDIAN);

    private final DmaMemory memory;
    private final ByteBuffer values;
    private final @Nullable ByteBuffer events; // null if the controller does not read the word
    private final int at;
    private final int register;
    private final int entries;
    private final IntConsumer write;
    private int tail;

    private TailDoorbell(
            DmaMemory memory, @Nullable DmaMemory events, int at, int register, int entries, IntConsumer write) {
        this.memory = memory;
        this.values = words(memory);
        this.events = events == null ? null : words(events);
        this.at = at;
        this.register = register;
        this.entries = entries;
        this.write = write;
    }

    private static ByteBuffer words(DmaMemory memory) {
        return memory.buffer(0, (int) memory.bytes()).order(ByteOrder.LITTLE_ENDIAN);
    }

    /** Returns a doorbell that only {@link #forward} reads; it owns the memory. */
    static TailDoorbell polled(DmaMemory memory, int register, int entries, IntConsumer write) {
        TailDoorbell doorbell = new TailDoorbell(memory, null, 0, register, entries, write);
        doorbell.values.putInt(0, 0);
        return doorbell;
    }

    /** Returns a shadow doorbell at an offset in the page of these; the page is not its own. */
    static TailDoorbell shadow(
            DmaMemory doorbells, DmaMemory events, int at, int register, int entries, IntConsumer write) {
        return new TailDoorbell(doorbells, events, at, register, entries, write);
    }

    /**
     * Returns whether the controller must be notified of a doorbell by the register: it has announced, by the event
     * index, that it does not look at the word any more.
     */
    static boolean isDue(ByteBuffer events, int at, int value, int old) {
        VarHandle.fullFence(); // the controller sets the event index, and then reads the doorbell once more
        int event = (int) WORDS.getVolatile(events, at);
        return (value - event - 1 & 0xffff) < (value - old & 0xffff);
    }

    /**
     * Writes the register if the word has changed and the controller needs to be notified. A value that is no index of
     * an entry is ignored.
     *
     * @return the tail that was found last
     */
    public int forward() {
        int value = (int) WORDS.getAcquire(values, at);
        if (value != tail && Integer.compareUnsigned(value, entries) < 0) {
            int old = tail;
            tail = value;
            if (events == null || isDue(events, at, value, old)) {
                write.accept(value);
            }
        }
        return tail;
    }

    /** Returns whether the controller reads the word by itself. */
    public boolean isShadow() {
        return events != null;
    }

    /** Returns the address of the word. */
    public long hostAddress() {
        return memory.hostAddress() + at;
    }

    /** Returns the bus address of the word. */
    public long busAddress() {
        return memory.busAddress() + at;
    }

    /** Returns the offset of the register in BAR0. */
    public int register() {
        return register;
    }

    /** Frees the word, unless it is the controller's. */
    public void free() {
        if (events == null) {
            memory.free();
        }
    }
}
