// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.staging;

import io.penstock.Transfer;
import io.penstock.engine.spi.Command;
import io.penstock.engine.spi.DeviceMemory;
import io.penstock.engine.spi.FencePoint;
import io.penstock.engine.spi.NativeFile;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * A command on its way; one object per id, filled again and again. The package's page says who may touch it when.
 */
final class Piece {

    /** What is to be done next. */
    enum Step {
        /** A filler reads the file into the slot. */
        FILL,
        /** The device copies between the slot and its memory. */
        COPY,
        /** A filler writes the slot to the file. */
        DRAIN,
        /** A filler does it all: the memory is one that the processor reaches. */
        HOST,
        /** A filler makes the file durable. */
        SYNC
    }

    /** Places where a piece waits, held by nobody. */
    static final int AWAITS_SLOT = 1;

    static final int AWAITS_FILLER = 2;
    static final int AWAITS_EXECUTOR = 3;

    private static final int TAKEN = 4;
    private static final int CANCEL = 8; // a bit beside the place

    final StagedQueue queue;
    final int id;
    private final AtomicInteger state = new AtomicInteger(TAKEN);
    private final Command copy = new Command();

    // The holder's.
    Step step = Step.SYNC;
    Command.Kind kind = Command.Kind.SYNC;
    long fileOffset;
    long memoryOffset;
    long bytes;

    @Nullable
    Transfer packed;

    int firstPair;
    int pairCount;
    boolean needsSlot;
    long slotOffset;
    long moved; // by the steps so far; in the end the result
    long ticket;
    long answer; // of the device, when it was last asked about the copy

    @Nullable
    Throwable thrown; // why it failed, where that is no number; until the next command

    private @Nullable FencePoint point;
    private @Nullable Runnable inOrder;
    private @Nullable NativeFile file;
    private @Nullable DeviceMemory memory;
    private @Nullable DeviceMemory slot;
    private @Nullable Slot pooled; // of which the slot is the memory

    Piece(StagedQueue queue, int id) {
        this.queue = queue;
        this.id = id;
    }

    /** Takes a command over; on the lane, to which the piece belongs between two commands. */
    void load(Command command) {
        kind = command.kind();
        bytes = command.bytes();
        moved = bytes;
        boolean copies = kind == Command.Kind.COPY_IN || kind == Command.Kind.COPY_OUT;
        file = copies ? null : StagedFile.host(command.file());
        memory = kind == Command.Kind.SYNC ? null : command.memory();
        fileOffset = command.fileOffset();
        memoryOffset = command.memoryOffset();
        slot = copies ? command.slot() : null;
        slotOffset = copies ? command.slotOffset() : 0;
        packed = kind == Command.Kind.READ ? command.packed() : null;
        firstPair = command.firstPair();
        pairCount = command.pairCount();
        point = command.point();
        inOrder = command.inOrder();
        needsSlot = false;
        thrown = null;
        pooled = null;
        state.set(TAKEN);
    }

    /** Drops what the command referred to; on the lane. */
    void clear() {
        file = null;
        memory = null;
        slot = null;
        packed = null;
        point = null;
        inOrder = null;
    }

    /** Gives the piece away; false if it was cancelled meanwhile, then the caller still holds it. */
    boolean giveTo(int place) {
        return state.compareAndSet(TAKEN, place);
    }

    /** Takes the piece, unless it does not wait there any more. */
    boolean takeFrom(int place) {
        return state.compareAndSet(place, TAKEN);
    }

    /** Takes the piece where nobody else does: a cancelled one stays with the filler that its entry came to. */
    void takeForFiller() {
        state.compareAndSet(AWAITS_FILLER, TAKEN);
    }

    /** Takes the piece back from where it may wait for long, and returns that place; else marks it and returns 0. */
    int cancel() {
        int before = state.getAndUpdate(s -> s == AWAITS_SLOT || s == AWAITS_EXECUTOR ? TAKEN : s | CANCEL);
        return before == AWAITS_SLOT || before == AWAITS_EXECUTOR ? before : 0;
    }

    boolean isCancelled() {
        return (state.get() & CANCEL) != 0;
    }

    void slot(Slot pooled) {
        this.pooled = pooled;
        slot = pooled.memory();
    }

    /** Returns the slot of the pool that the piece had, if any; it has none then. */
    @Nullable
    Slot giveUpSlot() {
        Slot given = pooled;
        slot = null;
        pooled = null;
        return given;
    }

    /** Returns how its bytes are read and written: as its slot knows, or by calls that know of none. */
    SlotBytes bytesBy(HostBytes host) {
        return pooled == null ? host : pooled.bytes();
    }

    boolean hasSlot() {
        return slot != null;
    }

    DeviceMemory slot() {
        return present(slot);
    }

    NativeFile file() {
        return present(file);
    }

    DeviceMemory memory() {
        return present(memory);
    }

    /** Returns the processor's address of the device side; only where it has one. */
    long memoryAddress() {
        return memory().hostAddress() + memoryOffset;
    }

    boolean isInward() {
        return kind == Command.Kind.READ || kind == Command.Kind.COPY_IN;
    }

    /** Returns the copy between slot and memory, as the device is to make it. */
    Command copy() {
        return copy.copy(isInward() ? Command.Kind.COPY_IN : Command.Kind.COPY_OUT, slot(), slotOffset, moved)
                .memory(memory(), memoryOffset)
                .joins(point, inOrder);
    }

    /** Says that the copy stands in the device's order. */
    void standsInOrder() {
        if (inOrder != null) {
            inOrder.run();
        }
    }

    private static <T> T present(@Nullable T value) {
        if (value == null) {
            throw new IllegalStateException("this piece has no such part");
        }
        return value;
    }
}
