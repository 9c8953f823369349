// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.staging;

import io.penstock.Backend.StagingState;
import io.penstock.engine.host.blocking.BufferBytes;
import io.penstock.engine.host.blocking.HostBytes;
import io.penstock.engine.kit.staging.ExecutorPump;
import io.penstock.engine.spi.DeviceMemory;
import io.penstock.engine.spi.NativeFailure;
import io.penstock.engine.spi.NativeFile;
import io.penstock.engine.spi.Request;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * The queue's state of a request; one object per tag. The package documentation defines which thread may access it
 * when.
 */
final class StagedRequest implements Request.Completion, ExecutorPump.Work {

    /** The next step, of one request of a segment: each on another thread, where a segment's own are all on one. */
    enum Step {
        /** A staging worker reads the file into the staging buffer. */
        FILL,
        /** The device copies between the staging buffer and its memory. */
        COPY,
        /** A staging worker writes the staging buffer to the file. */
        DRAIN,
        /** A staging worker does everything: the processor reaches the memory. */
        HOST,
        /** A staging worker makes the file durable. */
        SYNC
    }

    /** Places where a request waits, held by no thread. */
    static final int AWAITS_BUFFER = 1;

    static final int AWAITS_WORKER = 2;
    static final int AWAITS_EXECUTOR = 3;

    private static final int TAKEN = 4;
    private static final int CANCEL = 8; // a bit in addition to the place

    final StagedQueue queue;
    final Request request;
    private final AtomicInteger state = new AtomicInteger(TAKEN);
    private final Request copy; // between staging buffer and memory

    // Owned by the holder.
    Step step = Step.SYNC;
    boolean needsBuffer;
    long stagingOffset;
    long moved; // by the steps so far; in the end the bytes of the request

    @Nullable
    NativeFailure failure; // of the step that failed

    @Nullable
    Object event; // of the current step, for FlightRecording; null unless it is recorded

    private boolean copyEnded;
    private boolean hasPermit; // for a staging buffer of the queue
    private @Nullable DeviceMemory staging;
    private @Nullable StagingBuffer pooled; // of which the staging buffer is the memory

    StagedRequest(StagedQueue queue, Request request) {
        this.queue = queue;
        this.request = request;
        this.copy = new Request(request.tag(), this);
    }

    /** Initializes this from the request; on the I/O queue, which owns the request between two uses of the tag. */
    void begin() {
        moved = request.bytes();
        boolean ofStaging = request.isCopy() && request.source() == null;
        staging = ofStaging ? request.staging() : null;
        stagingOffset = ofStaging ? request.stagingOffset() : 0;
        needsBuffer = false;
        failure = null;
        pooled = null;
        hasPermit = false;
        state.set(TAKEN);
    }

    /** Drops all references; on the I/O queue. */
    void clear() {
        staging = null;
        copy.clear();
    }

    /** Releases the request to a place; returns false if it was cancelled meanwhile: the caller then still holds it. */
    boolean giveTo(int place) {
        return state.compareAndSet(TAKEN, place);
    }

    /** Takes the request, unless it no longer waits there. */
    boolean takeFrom(int place) {
        return state.compareAndSet(place, TAKEN);
    }

    /**
     * Takes the request where no other thread can: a cancelled one stays with the staging worker that polled its entry.
     */
    void takeForWorker() {
        state.compareAndSet(AWAITS_WORKER, TAKEN);
    }

    /**
     * Takes the request back from a place where it may wait for long, and returns that place; else marks it as
     * cancelled and returns 0.
     */
    int cancel() {
        int before = state.getAndUpdate(s -> s == AWAITS_BUFFER || s == AWAITS_EXECUTOR ? TAKEN : s | CANCEL);
        return before == AWAITS_BUFFER || before == AWAITS_EXECUTOR ? before : 0;
    }

    boolean isCancelled() {
        return (state.get() & CANCEL) != 0;
    }

    /** Records that the request has a permit for a staging buffer. */
    void permit() {
        hasPermit = true;
    }

    /** Takes the staging buffer for which the request has a permit, before its first step. */
    void takeBuffer(StagingBuffers from) {
        if (hasPermit && pooled == null) {
            pooled = from.take();
            staging = pooled.memory();
            boolean reads = request.isInward();
            show(step == Step.COPY ? StagingState.COPYING : reads ? StagingState.FILLING : StagingState.DRAINING);
        }
    }

    /** Shows what its staging buffer is used for from now on, if it has one of the pool. */
    void show(StagingState state) {
        StagingBuffer shown = pooled;
        if (shown != null) {
            shown.state().setOpaque(state);
        }
    }

    /** Returns the staging buffer and the permit of the request, if it has them. */
    void releaseBuffer(StagingBuffers to) {
        StagingBuffer given = pooled;
        staging = null;
        pooled = null;
        if (hasPermit) {
            hasPermit = false;
            to.release(given);
        }
    }

    /**
     * Returns how its bytes are read and written: by its staging buffer's calls, or by calls without a staging buffer.
     */
    BufferBytes bytesBy(HostBytes host) {
        return pooled == null ? host : pooled.bytes();
    }

    boolean hasBuffer() {
        return staging != null;
    }

    DeviceMemory staging() {
        return present(staging);
    }

    NativeFile file() {
        return StagedFile.host(request.file());
    }

    /** Returns the copy between staging buffer and memory, initialized; the device owns it until it has ended it. */
    Request beginCopy() {
        copyEnded = false;
        copy.copy(request.isInward() ? Request.Kind.COPY_IN : Request.Kind.COPY_OUT, staging(), stagingOffset, moved)
                .memory(request.memory(), request.memoryOffset())
                .joins(request.point(), request.inOrder());
        DeviceMemory source = request.source();
        return source == null ? copy : copy.from(source, request.sourceOffset());
    }

    /** Returns the copy, as initialized by {@link #beginCopy}. */
    Request copy() {
        return copy;
    }

    boolean hasCopyEnded() {
        return copyEnded;
    }

    /** Records the end of the copy; called within the device's method that the holder has called. */
    @Override
    public void ended(Request copy, long bytes, @Nullable NativeFailure why) {
        copyEnded = true;
        failure = why;
    }

    // The executor.

    @Override
    public boolean take() {
        return takeFrom(AWAITS_EXECUTOR);
    }

    @Override
    public boolean start() {
        return queue.proceeds(this) && queue.startsCopy(this);
    }

    @Override
    public boolean poll() {
        return queue.copies.poll(this);
    }

    @Override
    public boolean endsInOrder() {
        return queue.copies.endsInOrder();
    }

    @Override
    public void proceed() {
        if (queue.stepped(this, moved) && queue.proceeds(this)) {
            queue.hand(this);
        }
    }

    /** Notifies the engine that the copy is stream-ordered, if it waits for that. */
    void markStreamOrdered() {
        Runnable inOrder = request.inOrder();
        if (inOrder != null) {
            inOrder.run();
        }
    }

    private static <T> T present(@Nullable T value) {
        if (value == null) {
            throw new IllegalStateException("this request does not have that part");
        }
        return value;
    }
}
