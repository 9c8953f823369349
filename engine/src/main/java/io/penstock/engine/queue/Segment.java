// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.queue;

import io.penstock.BufferRegion;
import io.penstock.Transfer;
import io.penstock.engine.kit.file.HostFile;
import io.penstock.engine.order.BlockClaim;
import io.penstock.engine.order.BlockLocks;
import io.penstock.engine.order.FenceOrder;
import io.penstock.engine.resource.EngineFile;
import io.penstock.engine.spi.AsyncFile;
import io.penstock.engine.spi.DeviceMemory;
import io.penstock.engine.spi.Limits;
import io.penstock.engine.spi.NativeFile;
import io.penstock.engine.spi.Request;
import java.io.IOException;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * A native request in flight, and the segment that it is a step of. One object per tag of a queue, reused; the I/O
 * thread only.
 */
public final class Segment {

    /** What a segment is a program of; {@link SegmentSteps} runs it. */
    enum Step {
        DIRECT, // between file and target: the only step of most segments
        READ_FILE, // to a bounce buffer
        COPY_IN, // from the bounce buffer to the target
        COPY_OUT, // from the target to the bounce buffer
        WRITE_FILE, // from the bounce buffer
        LENGTH // the exact length of the file is restored
    }

    /** What a segment waits for that is not in native hands. */
    enum Awaits {
        NOTHING,
        LOCK, // of the blocks that it writes
        BUFFER,
        CALL // of a thread that may block, or of a file that reads and writes memory by itself
    }

    /** The range of the file that goes through a bounce buffer: the blocks around the segment, or a part of it. */
    static final class Cover {
        long offset;
        long bytes;
        boolean lengthens; // it ends beyond the end of the file, and what is written does not fill it
        long finalLength; // to be restored, if it is not negative

        @Nullable
        DeviceMemory buffer;

        DeviceMemory buffer() {
            return present(buffer);
        }
    }

    /** The request of the current step. */
    final Request request;

    // Who gets its result, and the lane that it counts in.
    @Nullable
    OpenTransfer owner;

    @Nullable
    SingleRequest single;

    @Nullable
    Object lane;

    Step step = Step.DIRECT;
    Awaits awaits = Awaits.NOTHING;
    boolean inNativeHands;
    int retries;

    @Nullable
    Runnable ending; // ends a call early; null if that cannot be done

    // What is moved. Set when it starts, as the owner's plan says.
    Request.Kind kind = Request.Kind.READ;
    public int pair;
    public int pairCount;
    boolean packed;

    @Nullable
    NativeFile file;

    @Nullable
    AsyncFile async; // the file, if it reads and writes memory by itself

    @Nullable
    DeviceMemory memory;

    public long fileOffset;
    long memoryOffset;
    public long bytes;
    long counted; // bytes that count as in flight
    long done; // by the current step, or the last one that read or wrote the file
    long passed; // through the bounce buffer, in earlier parts
    public long moved; // final bytes moved between file and target

    final Cover cover = new Cover(); // only if it goes through a bounce buffer

    @Nullable
    BlockLocks locks; // where the claim is held or waits

    @Nullable
    BlockClaim claim; // of a write; kept for the next one

    // Set if the owner has a fence point; the native queue reports from any thread that the request is stream-ordered.
    private @Nullable FenceOrder order;
    private final AtomicBoolean streamOrdered = new AtomicBoolean();
    boolean behindItsFence; // the current request: other work may wait on the device for an earlier one only
    private final Runnable whenOrdered = this::markStreamOrdered;

    public Segment(int tag, Request.Completion completion) {
        this.request = new Request(tag, completion);
    }

    /** Starts a segment of {@code transfer}. */
    void begin(OpenTransfer transfer) {
        owner = transfer;
        Admission terms = transfer.admission();
        FenceOrder place = terms == null ? null : terms.order();
        order = place;
        if (place != null) {
            streamOrdered.set(false);
            place.segmentStarted();
        }
    }

    /** Sets what is moved: the current segment of a transfer. */
    void fill(OpenTransfer open) {
        Transfer transfer = open.transfer();
        SegmentPlan plan = open.plan;
        kind = transfer.isRead() ? Request.Kind.READ : Request.Kind.WRITE;
        if (plan != null) {
            plan.fill(this);
        } else {
            pair = 0;
            pairCount = 1;
            fileOffset = transfer.fileOffset(0);
            memoryOffset = transfer.target(0) instanceof BufferRegion region ? region.offset() : 0;
            bytes = transfer.length();
        }
        EngineFile ofPair = open.file(pair);
        file = ofPair.nativeFile(open.pathIndex);
        async = ofPair.async();
        memory = open.memory(pair);
    }

    /**
     * Makes a range of the file go through a bounce buffer next.
     *
     * @param merges whether a write does not fill the range, which is therefore read first
     */
    void goThrough(long offset, long bytes, boolean merges) {
        step = merges || kind == Request.Kind.READ ? Step.READ_FILE : Step.COPY_OUT;
        cover.offset = offset;
        cover.bytes = bytes;
        done = 0;
        cover.lengthens = false;
        cover.finalLength = -1;
    }

    /** Returns where the rest of the segment starts in its bounce buffer. */
    long startInCover() {
        return fileOffset + passed - cover.offset;
    }

    /** Returns the bytes of the segment that its bounce buffer has, or has room for; not positive if none. */
    long bytesInCover() {
        long end = kind == Request.Kind.READ ? done : cover.bytes;
        return Math.min(end - startInCover(), bytes - passed);
    }

    /** Returns where in the file the current step starts, if it reads or writes the file. */
    private long stepStart() {
        return step == Step.DIRECT ? fileOffset + passed : cover.offset;
    }

    /** Returns the bytes of the current step, if it reads or writes the file. */
    long stepBytes() {
        return step == Step.DIRECT ? bytes - passed : cover.bytes;
    }

    private DeviceMemory stepMemory() {
        return step == Step.DIRECT ? memory() : cover.buffer();
    }

    /** Makes its request the rest of the current step, which reads or writes the file. */
    Request restOfStep() {
        Request.Kind way = step == Step.READ_FILE ? Request.Kind.READ : kind;
        long start = step == Step.DIRECT ? memoryOffset + passed : 0;
        return request.file(way, file(), stepStart() + done, stepBytes() - done).memory(stepMemory(), start + done);
    }

    /**
     * Joins the transfer's point, if it has one.
     *
     * @param last whether this is the last request of the segment
     */
    void joinOrder(boolean last) {
        FenceOrder place = order;
        if (place != null) {
            // A write is behind the fence when it is in the file, and a packed segment may be started again pair by
            // pair.
            request.joins(place.point(), last && kind == Request.Kind.READ && !packed ? whenOrdered : null);
        }
    }

    /** Called when the segment is stream-ordered, or has ended. */
    void markStreamOrdered() {
        FenceOrder place = order;
        if (place != null && streamOrdered.compareAndSet(false, true)) {
            place.segmentOrdered();
        }
    }

    /** Returns true if other work may wait on the device for what was asked of it so far. */
    boolean isStreamOrdered() {
        return order != null && streamOrdered.get();
    }

    /**
     * Returns true if the current step, which reads the file, stopped by {@code moved} because the file ends there.
     *
     * @param length the length of the file; negative where this may ask for it
     */
    boolean endsFile(long moved, long length) {
        if (moved == 0) {
            return true;
        }
        return !restDecides() && (length < 0 ? lengthOf(file()) : length) <= stepStart() + done;
    }

    /** Returns the length of a file; the largest if it cannot be told: the next read fails then. */
    static long lengthOf(NativeFile file) {
        try {
            return file.size();
        } catch (IOException e) {
            return Long.MAX_VALUE;
        }
    }

    /** Returns true if the rest can be read: elsewhere that is refused, and an interrupted read may end anywhere. */
    private boolean restDecides() {
        Limits limits = file().limits();
        return (stepStart() + done) % limits.fileAlignment() == 0 && done % limits.memoryAlignment() == 0;
    }

    /** Returns true if {@link #endsFile} needs the length of the file, for which no I/O queue may ask. */
    boolean mustAskLength(long moved) {
        return moved > 0 && file().mayWait() && !restDecides();
    }

    /**
     * Returns true if the file states a shorter length than was read of it, or none, so that only a blocking read of 0
     * bytes is its end: io_uring, which channels (no descriptor) do not use, ends at the stated length of some files,
     * and amid a block no queue goes on. Also if an I/O queue must not ask for the length.
     */
    boolean statesLess(long moved) {
        if (stepMemory().hostAddress() == 0 || !(file() instanceof HostFile host)) {
            return false;
        }
        long position = stepStart() + done;
        boolean amidBlock = position % host.limits().fileAlignment() != 0;
        if (host.mayWait()) { // blocking reads decide, as the reads of a lane are
            return moved == 0 ? host.lane() == null : amidBlock;
        }
        try {
            return moved == 0 ? host.fd() >= 0 && host.size() == 0 : amidBlock && host.size() < position;
        } catch (IOException e) {
            return false;
        }
    }

    /**
     * Makes a step that began at {@code before} continue at an offset where file and memory are aligned, so some bytes
     * may be moved again. Counts a retry if that is no progress.
     */
    void resume(long before) {
        Limits limits = file().limits();
        done -= done % Math.max(limits.fileAlignment(), limits.memoryAlignment());
        retries = done > before ? 0 : retries + 1;
    }

    /** Sets what it waits for; mostly nothing, as before, and a reference that is not stored costs no barrier. */
    void await(Awaits what) {
        if (awaits != what) {
            awaits = what;
        }
    }

    /** Returns whether a write was refused its lock, since an earlier one of the same blocks is lost. */
    boolean isRefused() {
        return locks != null && present(claim).isRefused();
    }

    /** Releases its lock, or waits for it no longer. */
    void unlock() {
        if (locks != null) {
            locks.unlock(present(claim));
            locks = null;
            if (awaits == Awaits.LOCK) {
                claim = null; // it may be granted late
            }
        }
    }

    /**
     * Gives up its lock, as its I/O queue is broken; keeps it, against all others, if the device may still write the
     * blocks.
     */
    void loseLock() {
        if (locks == null) {
            return;
        }
        boolean writing = step == Step.DIRECT || step == Step.WRITE_FILE;
        if (awaits == Awaits.CALL || (inNativeHands && writing)) {
            locks.lose(present(claim));
        } else {
            locks.unlock(present(claim));
        }
    }

    OpenTransfer owner() {
        return present(owner);
    }

    NativeFile file() {
        return present(file);
    }

    DeviceMemory memory() {
        return present(memory);
    }

    /** Makes it as new, without lock and bounce buffer, which were released. */
    void clear() {
        request.clear();
        owner = null;
        single = null;
        lane = null;
        step = Step.DIRECT;
        await(Awaits.NOTHING);
        inNativeHands = false;
        retries = 0;
        ending = null;
        packed = false;
        file = null;
        async = null;
        memory = null;
        done = 0;
        passed = 0;
        moved = 0;
        order = null;
        behindItsFence = false;
    }

    private static <T> T present(@Nullable T value) {
        if (value == null) {
            throw new IllegalStateException("this segment does not have that part");
        }
        return value;
    }
}
