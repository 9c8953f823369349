// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.spi;

import io.penstock.Transfer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * One native request: what is to be moved, and how that ended. The engine makes one object per tag of a queue and uses it
 * again and again. From {@link NativeQueue#enqueue} until it is completed or failed nothing in it changes, so a queue
 * keeps the request itself, and no copy of what it says.
 *
 * <p><b>Threading:</b> the description may be read by any thread that the queue hands the request to. {@link #complete},
 * {@link #fail} or {@link #end} is called in {@link NativeQueue#turn}, by its thread, one of them and once (rule 102); from
 * then on the request is the engine's again.
 */
public final class Request {

    /** What a request does. */
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

    /** Takes the ends of requests. */
    @FunctionalInterface
    public interface Completion {

        /**
         * Takes a request that has ended: the device has let go of its memory.
         *
         * @param bytes the bytes moved; fewer than asked for only where a file ends, or to be asked for the rest
         * @param failure why it failed, and then the bytes do not count; null if it has not
         */
        void ended(Request request, long bytes, @Nullable NativeFailure failure);
    }

    private final int tag;
    private final Completion completion;
    private @Nullable Object attachment;
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

    /**
     * Makes one, to be filled.
     *
     * @param tag what tells it from the others of a queue, 0 to {@link NativeQueue#depth()} - 1
     */
    public Request(int tag, Completion completion) {
        this.tag = tag;
        this.completion = completion;
    }

    /** Makes this a READ or a WRITE of {@code bytes} at {@code fileOffset}; call {@link #memory} next. */
    public Request file(Kind kind, NativeFile file, long fileOffset, long bytes) {
        this.kind = kind;
        this.file = file;
        this.fileOffset = fileOffset;
        this.bytes = bytes;
        this.slot = null;
        this.packed = null;
        return joins(null, null);
    }

    /** Sets the device side. */
    public Request memory(DeviceMemory memory, long memoryOffset) {
        this.memory = memory;
        this.memoryOffset = memoryOffset;
        return this;
    }

    /** Makes this a COPY_IN or a COPY_OUT of {@code bytes}; call {@link #memory} next. */
    public Request copy(Kind kind, DeviceMemory slot, long slotOffset, long bytes) {
        this.kind = kind;
        this.file = null;
        this.slot = slot;
        this.slotOffset = slotOffset;
        this.bytes = bytes;
        this.packed = null;
        return joins(null, null);
    }

    /** Makes this a SYNC. */
    public Request sync(NativeFile file) {
        this.kind = Kind.SYNC;
        this.file = file;
        this.memory = null;
        this.slot = null;
        this.bytes = 0;
        this.packed = null;
        return joins(null, null);
    }

    /** Makes this READ take {@code count} pairs of a gather, from {@code first} on; only where the limits say packs. */
    public Request packed(Transfer gather, int first, int count) {
        this.packed = gather;
        this.firstPair = first;
        this.pairCount = count;
        return this;
    }

    /** Makes this do what another does: for a queue in front of a queue. */
    public Request as(Request other) {
        kind = other.kind;
        file = other.file;
        fileOffset = other.fileOffset;
        memory = other.memory;
        memoryOffset = other.memoryOffset;
        bytes = other.bytes;
        slot = other.slot;
        slotOffset = other.slotOffset;
        packed = other.packed;
        firstPair = other.firstPair;
        pairCount = other.pairCount;
        return joins(other.point, other.inOrder);
    }

    /** Makes this one of the requests of a transfer that has a point in the device's order; see {@link #point}. */
    public Request joins(@Nullable FencePoint point, @Nullable Runnable inOrder) {
        this.point = point;
        this.inOrder = inOrder;
        return this;
    }

    /** Ends the request: {@code bytes} were moved. */
    public void complete(long bytes) {
        completion.ended(this, bytes, null);
    }

    /** Ends the request with its cause. */
    public void fail(NativeFailure failure) {
        completion.ended(this, 0, failure);
    }

    /** Ends the request: as {@link #fail} if there is a {@code failure}, else as {@link #complete}. */
    public void end(long bytes, @Nullable NativeFailure failure) {
        completion.ended(this, bytes, failure);
    }

    /** Returns the tag, which tells it from other requests of the queue that are in flight. */
    public int tag() {
        return tag;
    }

    /**
     * Returns what the queue keeps beside it. Made when it is first asked for, and kept for later uses of the tag.
     *
     * @param make makes what is of another type than what there is
     */
    public <T> T attachment(Class<T> type, Function<Request, T> make) {
        Object known = attachment;
        if (type.isInstance(known)) {
            return type.cast(known);
        }
        T made = make.apply(this);
        attachment = made;
        return made;
    }

    /** Lets go of file, memory and all else that it refers to. */
    public void clear() {
        file = null;
        memory = null;
        slot = null;
        packed = null;
        point = null;
        inOrder = null;
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

    /** Returns whether bytes go to {@link #memory()}: a READ or a COPY_IN. */
    public boolean isInward() {
        return kind == Kind.READ || kind == Kind.COPY_IN;
    }

    /** Returns whether it is a COPY_IN or a COPY_OUT. */
    public boolean isCopy() {
        return kind == Kind.COPY_IN || kind == Kind.COPY_OUT;
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

    /** Returns what the request's device work has to join, where the queue puts it into a device's order; else null. */
    public @Nullable FencePoint point() {
        return point;
    }

    /**
     * Returns what to run when the request's device work is stream-ordered and has joined
     * {@link #point()}; null if not needed. Any thread, once, and before the request is
     * completed; a queue that cannot say so earlier leaves it.
     */
    public @Nullable Runnable inOrder() {
        return inOrder;
    }

    private static <T> T present(@Nullable T value, String what) {
        if (value == null) {
            throw new IllegalStateException("this request has no " + what);
        }
        return value;
    }
}
