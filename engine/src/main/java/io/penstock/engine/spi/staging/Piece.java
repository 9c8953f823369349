// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.spi.staging;

import io.penstock.engine.host.HostBytes;
import io.penstock.engine.host.SlotBytes;
import io.penstock.engine.spi.DeviceMemory;
import io.penstock.engine.spi.NativeFailure;
import io.penstock.engine.spi.NativeFile;
import io.penstock.engine.spi.Request;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/** The queue's part of a request; one object per tag. The package's page says which thread may touch it when. */
final class Piece implements Request.Completion {

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

    /** Places where a piece waits, held by no thread. */
    static final int AWAITS_SLOT = 1;

    static final int AWAITS_FILLER = 2;
    static final int AWAITS_EXECUTOR = 3;

    private static final int TAKEN = 4;
    private static final int CANCEL = 8; // a bit beside the place

    final StagedQueue queue;
    final Request request;
    private final AtomicInteger state = new AtomicInteger(TAKEN);
    private final Request copy; // between slot and memory

    // The holder's.
    Step step = Step.SYNC;
    boolean needsSlot;
    long slotOffset;
    long moved; // by the steps so far; in the end the bytes of the request

    @Nullable
    NativeFailure failure; // of the step that failed

    private boolean copyEnded;
    private @Nullable DeviceMemory slot;
    private @Nullable Slot pooled; // of which the slot is the memory

    Piece(StagedQueue queue, Request request) {
        this.queue = queue;
        this.request = request;
        this.copy = new Request(request.tag(), this);
    }

    /** Begins with what the request says now; on the lane, to which the piece belongs between two uses of the tag. */
    void begin() {
        moved = request.bytes();
        slot = request.isCopy() ? request.slot() : null;
        slotOffset = request.isCopy() ? request.slotOffset() : 0;
        needsSlot = false;
        failure = null;
        pooled = null;
        state.set(TAKEN);
    }

    /** Drops what the request referred to; on the lane. */
    void clear() {
        slot = null;
        copy.clear();
    }

    /** Gives the piece away; false if it was cancelled meanwhile, then the caller still holds it. */
    boolean giveTo(int place) {
        return state.compareAndSet(TAKEN, place);
    }

    /** Takes the piece, unless it does not wait there any more. */
    boolean takeFrom(int place) {
        return state.compareAndSet(place, TAKEN);
    }

    /** Takes the piece where no other thread does: a cancelled one stays with the filler that its entry came to. */
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
        return StagedFile.host(request.file());
    }

    /** Describes the copy between slot and memory to the device, whose it is until it has ended it. */
    Request beginCopy() {
        copyEnded = false;
        return copy.copy(request.isInward() ? Request.Kind.COPY_IN : Request.Kind.COPY_OUT, slot(), slotOffset, moved)
                .memory(request.memory(), request.memoryOffset())
                .joins(request.point(), request.inOrder());
    }

    /** Returns the copy as it was begun. */
    Request copy() {
        return copy;
    }

    boolean hasCopyEnded() {
        return copyEnded;
    }

    /** Takes the end of the copy, from the device's method that the holder is in. */
    @Override
    public void ended(Request copy, long bytes, @Nullable NativeFailure why) {
        copyEnded = true;
        failure = why;
    }

    /** Tells the engine that the copy is in the device's order, if it waits for that. */
    void standsInOrder() {
        Runnable inOrder = request.inOrder();
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
