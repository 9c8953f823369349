// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.queue;

import io.penstock.engine.order.BlockClaim;
import io.penstock.engine.order.BlockLocks;
import io.penstock.engine.order.FenceOrder;
import io.penstock.engine.spi.AsyncFile;
import io.penstock.engine.spi.DeviceMemory;
import io.penstock.engine.spi.Limits;
import io.penstock.engine.spi.NativeFile;
import io.penstock.engine.spi.Request;
import io.penstock.engine.spi.file.HostFile;
import java.io.IOException;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * A native request in flight, and the segment that it is a step of. One object per tag of a queue, reused; the I/O
 * thread only.
 */
public final class Segment {

    /** Which step of a segment the request is. */
    enum Step {
        /** The request moves the segment itself. */
        BODY,
        /** The blocks around the segment are read into a bounce buffer. */
        FILL,
        /** Bytes go between bounce buffer and target. */
        COPY,
        /** The blocks are written back from the bounce buffer. */
        STORE,
        /** The exact length of the file is restored, off the I/O queue. */
        LENGTH,
        /** The request belongs to no transfer (a sync). */
        SINGLE
    }

    /** The request of the current step. */
    final Request request;

    // The purpose of the request.
    @Nullable
    OpenTransfer owner;

    @Nullable
    SingleRequest single;

    Step step = Step.BODY;
    int retries;
    boolean inNativeHands;
    boolean offQueue; // a thread that may block has it, or a file that fills memory by itself

    @Nullable
    Runnable ending; // ends early what is off the queue; null if that cannot be done

    // The segment.
    Request.Kind kind = Request.Kind.READ;
    public int pair;
    public int pairCount;
    boolean packed;

    @Nullable
    NativeFile file;

    @Nullable
    AsyncFile async; // the file, if it fills memory by itself

    @Nullable
    DeviceMemory memory;

    public long fileOffset;
    long memoryOffset;
    public long bytes;
    long done; // bytes of the current step
    public long moved; // final bytes moved between file and target

    // The blocks around it, if it uses a bounce buffer.
    boolean merges; // a write that does not fill its blocks
    boolean lengthens; // a merge whose cover ends beyond the end of the file
    long coverOffset;
    long coverBytes;
    long coverDone;
    long finalLength;
    boolean readToEnd; // by blocking reads

    @Nullable
    DeviceMemory bounce;

    @Nullable
    BlockLocks locks; // where that claim is held or waits

    boolean waitsForLock;
    BlockClaim claim;

    // Set if the owner has a fence point; the native queue reports from any thread that the request is stream-ordered.
    private @Nullable FenceOrder order;
    private final AtomicBoolean streamOrdered = new AtomicBoolean();
    private final Runnable whenOrdered = this::markStreamOrdered;

    private final IoQueue ioQueue;

    public Segment(int tag, IoQueue ioQueue) {
        this.request = new Request(tag, ioQueue);
        this.ioQueue = ioQueue;
        this.claim = newClaim();
        clear();
    }

    /**
     * Creates a claim whose grant counts only while it is the segment's current claim: the callback of an abandoned one
     * may come late.
     */
    final BlockClaim newClaim() {
        BlockClaim[] self = new BlockClaim[1];
        self[0] = new BlockClaim(() -> ioQueue.post(() -> {
            if (claim == self[0] && waitsForLock) {
                ioQueue.granted(this);
            }
        }));
        return self[0];
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

    /** Requests a report from the last request of the segment when it is stream-ordered. */
    void joinOrder() {
        joinOrder(true);
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

    /**
     * Returns true if a read from {@code start} stopped at {@code done}, by {@code moved}, because the file ends there.
     */
    boolean endsFileAt(long start, long done, long moved) {
        if (moved == 0 || readToEnd) {
            return true;
        }
        Limits limits = file().limits();
        if ((start + done) % limits.fileAlignment() == 0 && done % limits.memoryAlignment() == 0) {
            return false; // reading the rest decides
        }
        try {
            // Reading the rest would be refused, and an interrupted read may end anywhere.
            return file().size() <= start + done;
        } catch (IOException e) {
            return false;
        }
    }

    /**
     * Returns true if the file states a shorter length than was read of it, or none, so that only a blocking read of 0
     * bytes is its end: io_uring, which channels (no descriptor) do not use, ends at the stated length of some files,
     * and amid a block no queue goes on.
     */
    boolean statesLess(DeviceMemory memory, long position, long moved) {
        if (readToEnd || memory.hostAddress() == 0 || !(file() instanceof HostFile host)) {
            return false;
        }
        try {
            return moved == 0
                    ? host.fd() >= 0 && host.size() == 0
                    : position % host.limits().fileAlignment() != 0 && host.size() < position;
        } catch (IOException e) {
            return false;
        }
    }

    /**
     * Returns where to continue a step that began at {@code before} and reached {@code done}: an offset where file and
     * memory are aligned, so some bytes may be moved again. Counts a retry if that is no progress.
     */
    long resumeAt(long before, long done) {
        Limits limits = file().limits();
        long from = done - done % Math.max(limits.fileAlignment(), limits.memoryAlignment());
        retries = from > before ? 0 : retries + 1;
        return from;
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

    DeviceMemory bounce() {
        return present(bounce);
    }

    void clear() {
        request.clear();
        owner = null;
        single = null;
        step = Step.BODY;
        retries = 0;
        inNativeHands = false;
        packed = false;
        merges = false;
        lengthens = false;
        file = null;
        async = null;
        memory = null;
        done = 0;
        moved = 0;
        coverDone = 0;
        finalLength = -1;
        offQueue = false;
        ending = null;
        readToEnd = false;
        bounce = null;
        locks = null;
        waitsForLock = false;
        order = null;
    }

    private static <T> T present(@Nullable T value) {
        if (value == null) {
            throw new IllegalStateException("this segment does not have that part");
        }
        return value;
    }
}
