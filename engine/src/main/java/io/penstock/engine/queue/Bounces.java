// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.queue;

import io.penstock.Transfer;
import io.penstock.engine.host.blocking.BlockingBytes;
import io.penstock.engine.host.blocking.HostBytes;
import io.penstock.engine.order.BlockLocks;
import io.penstock.engine.resource.Failures;
import io.penstock.engine.resource.MemoryView;
import io.penstock.engine.resource.Offload;
import io.penstock.engine.spi.AsyncFile;
import io.penstock.engine.spi.DeviceMemory;
import io.penstock.engine.spi.NativeFailure;
import io.penstock.engine.spi.NativeFile;
import io.penstock.engine.spi.Request;
import io.penstock.engine.spi.Request.Kind;
import java.io.IOException;
import org.jspecify.annotations.Nullable;

/**
 * Runs a segment through its steps: direct, or, if its edges are not aligned to the blocks of the file, through a
 * bounce buffer.
 *
 * <p>A read fills the bounce buffer with the blocks and copies the bytes asked for. A write reads the blocks, merges,
 * and writes them back, under a lock that excludes every other write to them (rule 206). The lock is taken before the
 * bounce buffer, and no segment waits for a lock while it holds a bounce buffer (rule 304). The I/O thread only.
 */
public final class Bounces {

    /** The bytes of a bounce buffer, and so the maximum of one bounced segment. */
    public static final long BOUNCE_BYTES = BounceBuffers.EDGE_BYTES;

    private final IoQueue ioQueue;
    private final BounceBuffers buffers;
    private final AsyncSegments async;

    Bounces(IoQueue ioQueue, int bounceBuffers) {
        this.ioQueue = ioQueue;
        this.buffers = new BounceBuffers(bounceBuffers);
        this.async = new AsyncSegments(ioQueue, this);
    }

    /** Starts a segment. */
    void begin(Segment segment) {
        boolean write = segment.kind == Kind.WRITE;
        if (write && !lock(segment)) {
            return; // granted() continues
        }
        locked(segment);
    }

    private boolean lock(Segment segment) {
        BlockLocks locks = segment.owner().file(segment.pair).locks();
        if (!segment.merges) {
            segment.claim.shared(segment.fileOffset, segment.bytes);
        } else {
            segment.claim.exclusive(segment.coverOffset, exclusiveBytes(segment));
        }
        segment.locks = locks;
        segment.waitsForLock = !locks.lock(segment.claim);
        return !segment.waitsForLock;
    }

    /** Continues a segment that waited for its lock. */
    void granted(Segment segment) {
        segment.waitsForLock = false;
        locked(segment);
    }

    /**
     * Beyond the end of the file the claim is unbounded: truncating the file to its exact length must not truncate
     * bytes of others. The length may be temporary, set by a neighbouring write; {@link #filled} detects that.
     */
    private static long exclusiveBytes(Segment segment) {
        if (segment.lengthens) {
            return Long.MAX_VALUE - segment.coverOffset;
        }
        try {
            segment.lengthens =
                    segment.coverOffset + segment.coverBytes > segment.file().size();
        } catch (IOException e) {
            segment.lengthens = true;
        }
        return segment.lengthens ? Long.MAX_VALUE - segment.coverOffset : segment.coverBytes;
    }

    private void locked(Segment segment) {
        if (segment.owner().isStopped()) {
            ioQueue.end(segment);
        } else if (segment.kind == Kind.WRITE && segment.claim.isRefused()) {
            segment.owner().fail(Failures.behindLostWrite(segment.owner().transfer()));
            ioQueue.end(segment);
        } else if (segment.step == Segment.Step.BODY) {
            body(segment);
        } else {
            bufferOrWait(segment);
        }
    }

    void bufferOrWait(Segment segment) {
        boolean taken;
        try {
            taken = buffers.takeOrWait(segment);
        } catch (RuntimeException e) {
            segment.owner().fail(e);
            ioQueue.end(segment);
            return;
        }
        if (taken) {
            throughBuffer(segment);
        }
    }

    private void throughBuffer(Segment segment) {
        AsyncFile file = segment.async;
        if (file != null) {
            async.throughBuffer(segment, file);
        } else if (segment.kind == Kind.WRITE && !segment.merges) {
            copy(segment, segment.bytes);
        } else {
            fill(segment);
        }
    }

    private void body(Segment segment) {
        AsyncFile file = segment.async;
        if (file != null) {
            async.begin(segment, file);
            return;
        }
        Request request = segment.request
                .file(segment.kind, segment.file(), segment.fileOffset + segment.done, segment.bytes - segment.done)
                .memory(segment.memory(), segment.memoryOffset + segment.done);
        if (segment.packed) {
            request.packed(segment.owner().transfer(), segment.pair, segment.pairCount);
        }
        segment.joinOrder();
        ioQueue.enqueue(segment);
    }

    private void fill(Segment segment) {
        segment.step = Segment.Step.FILL;
        cover(segment, Kind.READ);
    }

    private void copy(Segment segment, long bytes) {
        segment.step = Segment.Step.COPY;
        segment.done = bytes;
        Kind kind = segment.kind == Kind.READ ? Kind.COPY_IN : Kind.COPY_OUT;
        segment.request
                .copy(kind, segment.bounce(), segment.fileOffset - segment.coverOffset, bytes)
                .memory(segment.memory(), segment.memoryOffset);
        segment.joinOrder();
        ioQueue.enqueue(segment);
    }

    private void store(Segment segment) {
        segment.step = Segment.Step.STORE;
        cover(segment, Kind.WRITE);
    }

    private void cover(Segment segment, Kind kind) {
        segment.request
                .file(
                        kind,
                        segment.file(),
                        segment.coverOffset + segment.coverDone,
                        segment.coverBytes - segment.coverDone)
                .memory(segment.bounce(), segment.coverDone);
        ioQueue.enqueue(segment);
    }

    /** Submits the same step again, after a transient failure. */
    void again(Segment segment) {
        AsyncFile file = segment.async;
        if (file != null) {
            async.begin(segment, file);
            return;
        }
        switch (segment.step) {
            case BODY -> body(segment);
            case FILL -> fill(segment);
            case COPY -> copy(segment, segment.done);
            case STORE -> store(segment);
            case LENGTH, SINGLE -> throw new IllegalStateException(segment.step + " is not repeated");
        }
    }

    /** Records the bytes that a step moved, and starts the next step or ends the segment. */
    void advance(Segment segment, long moved) {
        switch (segment.step) {
            case BODY -> bodyMoved(segment, moved);
            case FILL -> filled(segment, moved);
            case COPY -> copied(segment);
            case STORE -> stored(segment, moved);
            case LENGTH, SINGLE -> throw new IllegalStateException(segment.step + " is not a step of a request");
        }
    }

    private void bodyMoved(Segment segment, long moved) {
        long before = segment.done;
        segment.done += moved;
        segment.moved = Math.max(segment.moved, segment.done);
        if (segment.done == segment.bytes || segment.owner().isStopped()) {
            ioQueue.end(segment);
        } else if (segment.kind == Kind.READ
                && !segment.packed
                && segment.statesLess(segment.memory(), segment.fileOffset + segment.done, moved)) {
            segment.done = segment.resumeAt(before, segment.done);
            readToEnd(
                    segment,
                    segment.memory(),
                    segment.memoryOffset + segment.done,
                    segment.fileOffset + segment.done,
                    segment.bytes - segment.done);
        } else if (segment.kind == Kind.READ
                && (segment.packed || segment.endsFileAt(segment.fileOffset, segment.done, moved))) {
            ioQueue.end(segment); // rule 103: a short count only where the file ends
        } else {
            segment.done = segment.resumeAt(before, segment.done);
            again(segment, moved);
        }
    }

    private void filled(Segment segment, long moved) {
        if (segment.async != null) {
            async.filled(segment, moved);
            return;
        }
        long before = segment.coverDone;
        segment.coverDone += moved;
        if (segment.coverDone < segment.coverBytes
                && !segment.owner().isStopped()
                && segment.statesLess(segment.bounce(), segment.coverOffset + segment.coverDone, moved)) {
            segment.coverDone = segment.resumeAt(before, segment.coverDone);
            readToEnd(
                    segment,
                    segment.bounce(),
                    segment.coverDone,
                    segment.coverOffset + segment.coverDone,
                    segment.coverBytes - segment.coverDone);
            return;
        }
        boolean ended = segment.coverDone == segment.coverBytes
                || segment.endsFileAt(segment.coverOffset, segment.coverDone, moved);
        if (segment.owner().isStopped()) {
            ioQueue.end(segment);
        } else if (!ended) {
            segment.coverDone = segment.resumeAt(before, segment.coverDone);
            again(segment, moved);
        } else if (segment.kind == Kind.WRITE && segment.coverDone < segment.coverBytes && !segment.lengthens) {
            lockToTheEnd(segment);
        } else if (segment.kind == Kind.WRITE) {
            clearBeyondEnd(segment);
            copy(segment, segment.bytes);
        } else {
            long got = segment.coverDone - (segment.fileOffset - segment.coverOffset);
            if (got <= 0) {
                ioQueue.end(segment);
            } else {
                copy(segment, Math.min(got, segment.bytes));
            }
        }
    }

    /** Reads the rest of a step by blocking calls. */
    private void readToEnd(Segment segment, DeviceMemory memory, long memoryOffset, long fileOffset, long bytes) {
        HostBytes host = BlockingBytes.INSTANCE;
        NativeFile file = segment.file();
        long address = memory.hostAddress() + memoryOffset;
        segment.offQueue = true;
        Offload.blocking(() -> {
            try {
                long got = host.readToEnd(file, fileOffset, address, bytes, host.blockBytes(file));
                NativeFailure failure = got < 0 ? host.failure(Kind.READ, got) : null;
                ioQueue.post(() -> readToEnd(segment, got, failure));
            } catch (IOException | RuntimeException | Error e) {
                ioQueue.post(() -> readToEnd(segment, 0, host.failure(Kind.READ, e)));
            }
        });
    }

    private void readToEnd(Segment segment, long moved, @Nullable NativeFailure failure) {
        segment.offQueue = false;
        if (failure != null) {
            ioQueue.failed(segment, failure);
        } else {
            segment.readToEnd = true;
            advance(segment, moved);
        }
    }

    /** Continues with the rest after a short count; fails if the device makes no progress. */
    private void again(Segment segment, long moved) {
        if (moved == 0 || segment.retries > IoQueue.MOST_RETRIES) {
            segment.owner().fail(Failures.movedNothing(segment.owner().transfer()));
            ioQueue.end(segment);
        } else {
            again(segment);
        }
    }

    /**
     * Starts again with a larger claim: the file ends within the cover, and the claim does not extend beyond its end.
     */
    private void lockToTheEnd(Segment segment) {
        release(segment);
        segment.coverDone = 0;
        segment.lengthens = true;
        segment.readToEnd = false;
        begin(segment);
    }

    /**
     * Zeroes the part of the bounce buffer beyond the end of the file: a lengthened file must read as zeros there, not
     * as stale bytes.
     */
    private static void clearBeyondEnd(Segment segment) {
        if (segment.coverDone < segment.coverBytes) {
            if (segment.bounce().hostAddress() != 0) { // otherwise the path clears it
                int rest = (int) (segment.coverBytes - segment.coverDone);
                MemoryView.window(segment.bounce(), segment.coverDone, rest).put(new byte[rest]);
            }
            long end = segment.fileOffset + segment.bytes;
            segment.finalLength = Math.max(end, segment.coverOffset + segment.coverDone);
        }
    }

    private void copied(Segment segment) {
        AsyncFile file = segment.async;
        if (file != null && segment.kind == Kind.WRITE) {
            async.store(segment, file);
        } else if (file != null) {
            segment.step = Segment.Step.BODY;
            bodyMoved(segment, segment.coverDone);
        } else if (segment.kind == Kind.READ) {
            segment.moved = segment.done;
            ioQueue.end(segment);
        } else if (segment.owner().isStopped()) {
            ioQueue.end(segment);
        } else {
            segment.coverDone = 0;
            store(segment);
        }
    }

    private void stored(Segment segment, long moved) {
        if (segment.async != null) {
            segment.step = Segment.Step.BODY;
            bodyMoved(segment, moved);
            return;
        }
        long before = segment.coverDone;
        segment.coverDone += moved;
        if (segment.coverDone < segment.coverBytes) {
            segment.coverDone = segment.resumeAt(before, segment.coverDone);
            again(segment, moved);
        } else {
            segment.moved = segment.done;
            if (segment.finalLength < 0) {
                ioQueue.end(segment);
            } else {
                restoreLength(segment);
            }
        }
    }

    /**
     * Restores the exact length of the file after whole blocks were written (rule 206). The claim prevents others from
     * lengthening it.
     */
    private void restoreLength(Segment segment) {
        segment.step = Segment.Step.LENGTH;
        NativeFile file = segment.file();
        long length = segment.finalLength;
        // ftruncate waits for the inode lock, which other writers hold: not on the I/O queue.
        segment.offQueue = true;
        Offload.blocking(() -> {
            IOException failure = truncate(file, length);
            ioQueue.post(() -> {
                if (failure != null) {
                    Transfer transfer = segment.owner().transfer();
                    segment.owner().fail(Failures.lengthNotRestored(transfer, length, failure));
                }
                ioQueue.end(segment);
            });
        });
    }

    private static @Nullable IOException truncate(NativeFile file, long length) {
        try {
            file.truncate(length);
            return null;
        } catch (IOException e) {
            return e;
        }
    }

    /** Ends a segment that waits for a lock or a bounce buffer, because its transfer is being stopped. */
    void abandon(Segment segment) {
        buffers.forget(segment);
        ioQueue.end(segment);
    }

    /** Releases the lock and the bounce buffer of a segment. */
    void release(Segment segment) {
        BlockLocks locks = segment.locks;
        if (locks != null) {
            segment.locks = null;
            locks.unlock(segment.claim);
            if (segment.waitsForLock) {
                segment.claim = segment.newClaim();
            }
        }
        Segment next = buffers.give(segment);
        if (next != null) {
            bufferOrWait(next);
        }
    }

    /**
     * Gives up the lock of a segment whose I/O queue is broken; keeps it, against all others, if the device may still
     * write the blocks.
     */
    void lose(Segment segment) {
        BlockLocks locks = segment.locks;
        if (locks == null) {
            return;
        }
        boolean writing = segment.step == Segment.Step.BODY || segment.step == Segment.Step.STORE;
        if (segment.offQueue || (segment.inNativeHands && writing)) {
            locks.lose(segment.claim);
        } else {
            locks.unlock(segment.claim);
        }
    }

    /** Returns the number of segments that wait for a bounce buffer. */
    int waiting() {
        return buffers.waiting();
    }

    void close() {
        buffers.close();
    }
}
