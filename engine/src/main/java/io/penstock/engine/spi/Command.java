// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.spi;

import io.penstock.Transfer;
import org.jspecify.annotations.Nullable;

/**
 * One native command, as a lane hands it to its queue. A flyweight: the lane fills the same object again after
 * {@link NativeQueue#enqueue} has returned, so a queue copies out what it needs later.
 */
public final class Command {

    /** What a command does. */
    public enum Kind {
        /** Bytes of the file go to the memory. */
        READ,
        /** Bytes of the memory go to the file. */
        WRITE,
        /** Every write to the file that has completed becomes durable; has no memory. */
        SYNC,
        /** Bytes of {@link #slot()}, from {@link #slotOffset()} on, go to the memory; has no file. */
        COPY_IN,
        /** Bytes of the memory go to {@link #slot()}, from {@link #slotOffset()} on; has no file. */
        COPY_OUT
    }

    private Kind kind = Kind.SYNC;
    private @Nullable NativeFile file;
    private long fileOffset;
    private @Nullable DeviceMemory memory;
    private long memoryOffset;
    private long bytes;
    private @Nullable DeviceMemory slot;
    private long slotOffset;
    private @Nullable Transfer packed;
    private int firstPair;
    private int pairCount;
    private @Nullable FencePoint point;
    private @Nullable Runnable inOrder;

    /** Makes one, to be filled. */
    public Command() {}

    /** Makes this a READ or a WRITE of {@code bytes} at {@code fileOffset}; call {@link #memory} next. */
    public Command file(Kind kind, NativeFile file, long fileOffset, long bytes) {
        this.kind = kind;
        this.file = file;
        this.fileOffset = fileOffset;
        this.bytes = bytes;
        this.slot = null;
        this.packed = null;
        return joins(null, null);
    }

    /** Sets the device side. */
    public Command memory(DeviceMemory memory, long memoryOffset) {
        this.memory = memory;
        this.memoryOffset = memoryOffset;
        return this;
    }

    /** Makes this a COPY_IN or a COPY_OUT of {@code bytes}; call {@link #memory} next. */
    public Command copy(Kind kind, DeviceMemory slot, long slotOffset, long bytes) {
        this.kind = kind;
        this.file = null;
        this.slot = slot;
        this.slotOffset = slotOffset;
        this.bytes = bytes;
        this.packed = null;
        return joins(null, null);
    }

    /** Makes this a SYNC. */
    public Command sync(NativeFile file) {
        this.kind = Kind.SYNC;
        this.file = file;
        this.memory = null;
        this.slot = null;
        this.bytes = 0;
        this.packed = null;
        return joins(null, null);
    }

    /** Makes this READ take {@code count} pairs of a gather, from {@code first} on; only where the limits say packs. */
    public Command packed(Transfer gather, int first, int count) {
        this.packed = gather;
        this.firstPair = first;
        this.pairCount = count;
        return this;
    }

    /** Makes this one of the commands of a transfer that has a point in the device's order; see {@link #point}. */
    public Command joins(@Nullable FencePoint point, @Nullable Runnable inOrder) {
        this.point = point;
        this.inOrder = inOrder;
        return this;
    }

    /** Returns what it does. */
    public Kind kind() {
        return kind;
    }

    /** Returns the file. Only for READ, WRITE and SYNC. */
    public NativeFile file() {
        return present(file, "file");
    }

    /** Returns the offset in the file. */
    public long fileOffset() {
        return fileOffset;
    }

    /** Returns the device side. Not for SYNC. */
    public DeviceMemory memory() {
        return present(memory, "memory");
    }

    /** Returns the offset in {@link #memory()}. */
    public long memoryOffset() {
        return memoryOffset;
    }

    /** Returns the processor's address of the first byte of the device side. */
    public long hostAddress() {
        return memory().hostAddress() + memoryOffset;
    }

    /** Returns how many bytes to move. */
    public long bytes() {
        return bytes;
    }

    /** Returns the slot. Only for COPY_IN and COPY_OUT. */
    public DeviceMemory slot() {
        return present(slot, "slot");
    }

    /** Returns the offset in {@link #slot()}. */
    public long slotOffset() {
        return slotOffset;
    }

    /** Returns the gather of which this takes several pairs, or null. */
    public @Nullable Transfer packed() {
        return packed;
    }

    /** Returns the first pair of {@link #packed()}. */
    public int firstPair() {
        return firstPair;
    }

    /** Returns how many pairs of {@link #packed()} it takes. */
    public int pairCount() {
        return pairCount;
    }

    /** Returns what the command's device work has to join, where the queue puts it into a device's order; else null. */
    public @Nullable FencePoint point() {
        return point;
    }

    /**
     * Returns what to run when the command's device work stands in the device's order and has joined
     * {@link #point()}; null where nobody wants to know. Any thread, once, and before the command's completion is
     * reported; a queue that cannot say so earlier leaves it.
     */
    public @Nullable Runnable inOrder() {
        return inOrder;
    }

    private static <T> T present(@Nullable T value, String what) {
        if (value == null) {
            throw new IllegalStateException("this command has no " + what);
        }
        return value;
    }
}
