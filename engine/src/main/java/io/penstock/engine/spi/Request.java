// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.spi;

import io.penstock.Transfer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * One native request: what to move, and its result. The engine creates one object per tag of a queue and reuses it.
 * From {@link NativeQueue#enqueue} until it is completed or failed it does not change, so a queue keeps the request
 * itself instead of a copy.
 *
 * <p><b>Threading:</b> the description may be read by any thread to which the queue passes the request.
 * {@link #complete}, {@link #fail} or {@link #end} is called in {@link NativeQueue#turn}, on its thread: exactly one of
 * them, once (rule 102). After that the engine owns the request again.
 */
public final class Request {

    /** The operation of a request. */
    public enum Kind {
        /** Moves bytes from the file to the memory. */
        READ,
        /** Moves bytes from the memory to the file. */
        WRITE,
        /** Makes every completed write to the file durable; has no memory. */
        SYNC,
        /**
         * Copies bytes of {@link #source()} to the memory, or if that is null, of {@link #staging()}, from {@link
         * #stagingOffset()} on; has no file.
         */
        COPY_IN,
        /** Copies bytes of the memory to {@link #staging()}, from {@link #stagingOffset()} on; has no file. */
        COPY_OUT
    }

    /** Receives the completions of requests. */
    @FunctionalInterface
    public interface Completion {

        /**
         * Called when a request has ended: the device has released its memory.
         *
         * @param bytes the bytes moved; fewer than requested only at the end of a file, or if the rest is to be
         *     requested again
         * @param failure why it failed, in which case {@code bytes} is ignored; null if it succeeded
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
    private boolean resized;
    private @Nullable DeviceMemory staging;
    private long stagingOffset;
    private @Nullable DeviceMemory source;
    private long sourceOffset;
    private @Nullable Transfer packed;
    private int firstPair;
    private int pairCount;
    private @Nullable FencePoint point;
    private @Nullable Runnable inOrder;

    /**
     * Creates an empty request.
     *
     * @param tag identifies it among the requests of a queue, 0 to {@link NativeQueue#depth()} - 1
     */
    public Request(int tag, Completion completion) {
        this.tag = tag;
        this.completion = completion;
    }

    /** Sets this to a READ or a WRITE of {@code bytes} at {@code fileOffset}; call {@link #memory} next. */
    public Request file(Kind kind, NativeFile file, long fileOffset, long bytes) {
        this.kind = kind;
        this.file = file;
        this.fileOffset = fileOffset;
        this.bytes = bytes;
        this.staging = null;
        this.source = null;
        this.packed = null;
        return joins(null, null);
    }

    /** Sets the device side. */
    public Request memory(DeviceMemory memory, long memoryOffset) {
        this.memory = memory;
        this.memoryOffset = memoryOffset;
        return this;
    }

    /** Sets this to a COPY_IN or a COPY_OUT of {@code bytes}; call {@link #memory} next. */
    public Request copy(Kind kind, DeviceMemory staging, long stagingOffset, long bytes) {
        this.kind = kind;
        this.file = null;
        this.staging = staging;
        this.source = null;
        this.stagingOffset = stagingOffset;
        this.bytes = bytes;
        this.packed = null;
        return joins(null, null);
    }

    /** Sets this to a SYNC. */
    public Request sync(NativeFile file) {
        this.kind = Kind.SYNC;
        this.file = file;
        this.memory = null;
        this.staging = null;
        this.source = null;
        this.bytes = 0;
        this.packed = null;
        return joins(null, null);
    }

    /**
     * Makes this READ cover {@code count} pairs of a gather, from {@code first} on; only if {@link Limits#packs} is
     * set.
     */
    public Request packed(Transfer gather, int first, int count) {
        this.packed = gather;
        this.firstPair = first;
        this.pairCount = count;
        return this;
    }

    /**
     * Makes this COPY_IN copy from the memory of another buffer, which its path {@linkplain IoPath#copies copies} from.
     */
    public Request from(DeviceMemory source, long sourceOffset) {
        this.source = source;
        this.sourceOffset = sourceOffset;
        return this;
    }

    /** Copies the description of another request; for a queue in front of a queue. */
    public Request as(Request other) {
        kind = other.kind;
        file = other.file;
        fileOffset = other.fileOffset;
        memory = other.memory;
        memoryOffset = other.memoryOffset;
        bytes = other.bytes;
        staging = other.staging;
        stagingOffset = other.stagingOffset;
        source = other.source;
        sourceOffset = other.sourceOffset;
        packed = other.packed;
        firstPair = other.firstPair;
        pairCount = other.pairCount;
        return joins(other.point, other.inOrder);
    }

    /** Sets the point in the device's order of the transfer that this request belongs to; see {@link #point}. */
    public Request joins(@Nullable FencePoint point, @Nullable Runnable inOrder) {
        this.point = point;
        this.inOrder = inOrder;
        this.resized = false; // every new description ends here
        return this;
    }

    /**
     * Makes {@code size} the number of bytes to move, since the device has decided it: of a READ or a WRITE of whole
     * blocks, in {@link NativeQueue#turn}, before it is completed. What was requested beyond is not requested again.
     *
     * @param size at most {@link #bytes()}
     */
    public void resize(long size) {
        bytes = size;
        resized = true;
    }

    /** Returns whether {@link #resize} was called. */
    public boolean isResized() {
        return resized;
    }

    /** Completes the request: {@code bytes} were moved. */
    public void complete(long bytes) {
        completion.ended(this, bytes, null);
    }

    /** Fails the request. */
    public void fail(NativeFailure failure) {
        completion.ended(this, 0, failure);
    }

    /** Ends the request: as {@link #fail} if there is a {@code failure}, else as {@link #complete}. */
    public void end(long bytes, @Nullable NativeFailure failure) {
        completion.ended(this, bytes, failure);
    }

    /** Returns the tag, unique among the queue's requests in flight. */
    public int tag() {
        return tag;
    }

    /**
     * Returns the queue's own state for this request. Created on the first call, and kept for later uses of the tag.
     *
     * @param make creates the state if there is none of this type
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

    /** Drops all references: file, memory and others. */
    public void clear() {
        file = null;
        memory = null;
        staging = null;
        source = null;
        packed = null;
        joins(null, null);
    }

    /** Returns the operation. */
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

    /** Returns whether bytes move to {@link #memory()}: a READ or a COPY_IN. */
    public boolean isInward() {
        return kind == Kind.READ || kind == Kind.COPY_IN;
    }

    /** Returns whether it is a COPY_IN or a COPY_OUT. */
    public boolean isCopy() {
        return kind == Kind.COPY_IN || kind == Kind.COPY_OUT;
    }

    /** Returns the number of bytes to move. */
    public long bytes() {
        return bytes;
    }

    /** Returns the staging buffer. Only for COPY_IN and COPY_OUT. */
    public DeviceMemory staging() {
        return present(staging, "staging buffer");
    }

    /** Returns the offset in {@link #staging()}. */
    public long stagingOffset() {
        return stagingOffset;
    }

    /** Returns the memory of another buffer that a COPY_IN copies from; null if it copies from {@link #staging()}. */
    public @Nullable DeviceMemory source() {
        return source;
    }

    /** Returns the offset in {@link #source()}. */
    public long sourceOffset() {
        return sourceOffset;
    }

    /** Returns the gather of which this request covers several pairs, or null. */
    public @Nullable Transfer packed() {
        return packed;
    }

    /** Returns the first pair of {@link #packed()}. */
    public int firstPair() {
        return firstPair;
    }

    /** Returns how many pairs of {@link #packed()} it covers. */
    public int pairCount() {
        return pairCount;
    }

    /**
     * Returns the point that the request's device work must join if the queue enqueues it in a device's order; else
     * null.
     */
    public @Nullable FencePoint point() {
        return point;
    }

    /**
     * Returns what to run when the request's device work is stream-ordered and has joined {@link #point()}; null if not
     * needed. Any thread, once, and before the request is completed; a queue that cannot do so earlier skips it.
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
