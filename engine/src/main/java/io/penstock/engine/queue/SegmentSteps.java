// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.queue;

import io.penstock.Transfer;
import io.penstock.engine.host.blocking.BlockingBytes;
import io.penstock.engine.host.blocking.HostBytes;
import io.penstock.engine.order.BlockClaim;
import io.penstock.engine.order.BlockLocks;
import io.penstock.engine.queue.Segment.Awaits;
import io.penstock.engine.queue.Segment.Cover;
import io.penstock.engine.queue.Segment.Step;
import io.penstock.engine.resource.BufferFile;
import io.penstock.engine.resource.Failures;
import io.penstock.engine.resource.MemoryView;
import io.penstock.engine.spi.AsyncFile;
import io.penstock.engine.spi.DeviceMemory;
import io.penstock.engine.spi.NativeException;
import io.penstock.engine.spi.NativeFailure;
import io.penstock.engine.spi.NativeFile;
import io.penstock.engine.spi.Request;
import io.penstock.engine.spi.Request.Kind;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.function.Consumer;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;

/**
 * Runs the steps of segments. A segment is a program of steps: a straight one is {@link Step#DIRECT} alone, and ends
 * with its request. What the path cannot move straight goes through a bounce buffer.
 *
 * <ul>
 *   <li>Edges that are not aligned to the blocks of the file: a read is {@code READ_FILE COPY_IN}, of the blocks and
 *       then of the bytes asked for. A write is {@code READ_FILE COPY_OUT WRITE_FILE}, and {@code LENGTH} where it ends
 *       the file; under a lock that excludes every other write to the blocks (rule 206), and without the first step if
 *       it fills them.
 *   <li>A file that reads and writes host memory by itself, and a target that the processor does not reach: a read is
 *       {@code READ_FILE COPY_IN}, a write {@code COPY_OUT WRITE_FILE}, and again for each bounce buffer.
 * </ul>
 *
 * <p>The lock is taken before the bounce buffer, and no segment waits for a lock while it holds a bounce buffer (rule
 * 304). The I/O thread only.
 */
public final class SegmentSteps {

    /** The bytes of a bounce buffer, and so the maximum of one segment whose edges need one. */
    public static final long BOUNCE_BYTES = BounceBuffers.EDGE_BYTES;

    private final IoQueue ioQueue;
    private final BounceBuffers buffers;

    SegmentSteps(IoQueue ioQueue, BounceBuffers buffers) {
        this.ioQueue = ioQueue;
        this.buffers = buffers;
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
        BlockClaim claim = segment.claim;
        if (claim == null) {
            claim = new BlockClaim(granted -> ioQueue.post(() -> granted(segment, granted)));
            segment.claim = claim;
        }
        if (segment.step == Step.READ_FILE) {
            claim.exclusive(segment.cover.offset, exclusiveBytes(segment));
        } else {
            claim.shared(segment.fileOffset, segment.bytes);
        }
        BlockLocks locks = segment.owner().file(segment.pair).locks();
        segment.locks = locks;
        boolean granted = locks.lock(claim);
        segment.await(granted ? Awaits.NOTHING : Awaits.LOCK);
        return granted;
    }

    /** Continues a segment that waited for its lock; the claim of an abandoned one may be granted late. */
    private void granted(Segment segment, BlockClaim claim) {
        if (segment.claim == claim && segment.awaits == Awaits.LOCK) {
            segment.await(Awaits.NOTHING);
            locked(segment);
        }
    }

    /**
     * Beyond the end of the file the claim is unbounded: truncating the file to its exact length must not truncate
     * bytes of others. The length may be temporary, set by a neighbouring write; {@link #fileEnded} detects that.
     */
    private static long exclusiveBytes(Segment segment) {
        Cover cover = segment.cover;
        if (!cover.lengthens && !segment.file().mayWait()) { // otherwise fileEnded() detects it
            try {
                cover.lengthens = cover.offset + cover.bytes > segment.file().size();
            } catch (IOException e) {
                cover.lengthens = true;
            }
        }
        return cover.lengthens ? Long.MAX_VALUE - cover.offset : cover.bytes;
    }

    private void locked(Segment segment) {
        if (segment.owner().isStopped()) {
            ioQueue.end(segment);
        } else if (segment.isRefused()) {
            segment.owner().fail(Failures.behindLostWrite(segment.owner().transfer()));
            ioQueue.end(segment);
        } else if (segment.step == Step.DIRECT) {
            moveFile(segment);
        } else {
            bufferOrWait(segment);
        }
    }

    private void bufferOrWait(Segment segment) {
        Cover cover = segment.cover;
        boolean taken;
        try {
            taken = cover.buffer != null || buffers.takeOrWait(segment);
        } catch (RuntimeException e) {
            segment.owner().fail(e);
            ioQueue.end(segment);
            return;
        }
        segment.await(taken ? Awaits.NOTHING : Awaits.BUFFER);
        if (taken) {
            cover.bytes = Math.min(cover.bytes, cover.buffer().bytes());
            run(segment);
        }
    }

    /** Runs the current step, or what is left of it. */
    private void run(Segment segment) {
        switch (segment.step) {
            case DIRECT, READ_FILE, WRITE_FILE -> moveFile(segment);
            case COPY_IN, COPY_OUT -> copy(segment);
            case LENGTH -> restoreLength(segment);
        }
    }

    private void next(Segment segment, Step step) {
        segment.step = step;
        run(segment);
    }

    /** Runs the current step again after a transient failure, or what is left of it. */
    private void again(Segment segment) {
        segment.behindItsFence = segment.isStreamOrdered();
        run(segment);
    }

    private void moveFile(Segment segment) {
        AsyncFile file = segment.async;
        Request request = segment.restOfStep();
        boolean direct = segment.step == Step.DIRECT;
        if (file != null && direct) {
            direct(segment, file);
        } else if (file != null) {
            call(segment, file);
        } else {
            if (segment.packed) {
                request.packed(segment.owner().transfer(), segment.pair, segment.pairCount);
            }
            if (direct) {
                segment.joinOrder(true);
            }
            ioQueue.enqueue(segment);
        }
    }

    /**
     * Moves the rest of a segment of a file that reads and writes host memory by itself; of a buffer in one request
     * where the path reaches both memories.
     */
    private void direct(Segment segment, AsyncFile file) {
        Request request = segment.request;
        boolean read = segment.kind == Kind.READ;
        long at = request.fileOffset();
        long bytes = read ? Math.min(request.bytes(), file.size() - at) : request.bytes();
        DeviceMemory target = request.memory();
        long targetOffset = request.memoryOffset();
        if (bytes <= 0) {
            ioQueue.end(segment); // beyond the end of the file
        } else if (file instanceof BufferFile.Source source
                && segment.owner().ioPath().copies(source.memory(), target) != null) {
            request.copy(Kind.COPY_IN, source.memory(), at, bytes)
                    .from(source.memory(), at)
                    .memory(target, targetOffset);
            segment.joinOrder(true);
            ioQueue.enqueue(segment);
        } else if (target.hostAddress() != 0) {
            request.file(segment.kind, file, at, bytes).memory(target, targetOffset);
            call(segment, file);
        } else {
            segment.goThrough(at, bytes, false);
            bufferOrWait(segment);
        }
    }

    /** Lets a file carry out by itself what the request says. */
    private void call(Segment segment, AsyncFile file) {
        Request request = segment.request;
        long bytes = request.bytes();
        ByteBuffer window = MemoryView.window(request.memory(), request.memoryOffset(), (int) bytes);
        Consumer<@Nullable Throwable> ended = failure -> ioQueue.post(() -> called(segment, bytes, failure));
        segment.await(Awaits.CALL);
        segment.ending = segment.kind == Kind.READ
                ? file.read(request.fileOffset(), window, ended)
                : file.write(request.fileOffset(), window, ended);
    }

    private void called(Segment segment, long bytes, @Nullable Throwable failure) {
        segment.await(Awaits.NOTHING);
        segment.ending = null;
        if (failure == null) {
            ended(segment, bytes);
        } else if (segment.owner().isStopped()) {
            ioQueue.end(segment); // it was ended early, for another reason than this
        } else if (failure instanceof NativeException known) {
            failed(segment, known.failure());
        } else {
            segment.owner().fail(failure);
            ioQueue.end(segment);
        }
    }

    /** Copies between bounce buffer and target what the bounce buffer has of the segment, or takes of it. */
    private void copy(Segment segment) {
        long bytes = segment.bytesInCover();
        Kind kind = segment.step == Step.COPY_IN ? Kind.COPY_IN : Kind.COPY_OUT;
        segment.request
                .copy(kind, segment.cover.buffer(), segment.startInCover(), bytes)
                .memory(segment.memory(), segment.memoryOffset + segment.passed);
        segment.joinOrder(segment.async == null || segment.passed + bytes == segment.bytes);
        ioQueue.enqueue(segment);
    }

    /** Retries or ends a segment whose step has failed. */
    void failed(Segment segment, NativeFailure failure) {
        OpenTransfer transfer = segment.owner();
        if (failure.kind() == NativeFailure.Kind.RETRY && segment.retries++ < IoQueue.MOST_RETRIES) {
            if (!transfer.isStopped()) {
                again(segment);
                return;
            }
        } else if (!(failure.kind() == NativeFailure.Kind.CANCELLED && transfer.isStopped())) {
            transfer.fail(failure);
        }
        ioQueue.end(segment);
    }

    /** Records the bytes that a step moved, and runs the rest of it, runs the next step, or ends the segment. */
    void ended(Segment segment, long moved) {
        switch (segment.step) {
            case DIRECT -> {
                if (segment.request.isResized()) {
                    segment.bytes = segment.passed + segment.done + segment.request.bytes();
                }
                fileMoved(segment, moved, false);
            }
            case READ_FILE, WRITE_FILE -> fileMoved(segment, moved, false);
            case COPY_IN -> {
                failIfBehindItsFence(segment, segment.bytesInCover());
                passed(segment);
            }
            case COPY_OUT -> {
                segment.done = 0;
                if (segment.owner().isStopped()) {
                    ioQueue.end(segment);
                } else {
                    next(segment, Step.WRITE_FILE);
                }
            }
            case LENGTH -> throw new IllegalStateException("not a step of a request");
        }
    }

    private static void failIfBehindItsFence(Segment segment, long moved) {
        if (moved > 0 && segment.behindItsFence) {
            segment.owner().fail(Failures.behindItsFence(segment.owner().transfer()));
        }
    }

    /**
     * Records what a step has read of the file or written to it.
     *
     * @param toItsEnd whether fewer bytes than asked for are all that the file has
     */
    private void fileMoved(Segment segment, long moved, boolean toItsEnd) {
        long before = segment.done;
        segment.done += moved;
        if (segment.step == Step.DIRECT) {
            failIfBehindItsFence(segment, moved);
            segment.moved = Math.max(segment.moved, segment.passed + segment.done);
        }
        boolean reads = segment.kind == Kind.READ || segment.step == Step.READ_FILE;
        boolean mayRest = reads && !segment.packed && !toItsEnd;
        if (segment.done == segment.stepBytes()) {
            fileEnded(segment);
        } else if (segment.step != Step.WRITE_FILE && segment.owner().isStopped()) {
            ioQueue.end(segment);
        } else if (mayRest && segment.statesLess(moved)) {
            segment.resume(before);
            readToItsEnd(segment);
        } else if (mayRest && segment.mustAskLength(moved)) {
            askLength(segment, length -> stopped(segment, before, moved, segment.endsFile(moved, length)));
        } else {
            stopped(segment, before, moved, reads && (!mayRest || segment.endsFile(moved, -1)));
        }
    }

    /** Ends or continues a file step that stopped early. */
    private void stopped(Segment segment, long before, long moved, boolean endsFile) {
        if (endsFile) {
            fileEnded(segment); // rule 103: a short count only where the file ends
        } else {
            segment.resume(before);
            goOn(segment, moved);
        }
    }

    /** Asks the file for its length by a call that may block, and goes on, unless the transfer is being stopped. */
    private void askLength(Segment segment, LongConsumer next) {
        NativeFile file = segment.file();
        segment.await(Awaits.CALL);
        segment.owner().file(segment.pair).offQueue(() -> {
            long length = Segment.lengthOf(file);
            ioQueue.post(() -> {
                segment.await(Awaits.NOTHING);
                if (segment.owner().isStopped()) {
                    ioQueue.end(segment);
                } else {
                    next.accept(length);
                }
            });
        });
    }

    /** Ends a segment whose file step has ended, or runs the next step. */
    private void fileEnded(Segment segment) {
        if (segment.step == Step.WRITE_FILE) {
            passed(segment);
        } else if (segment.step == Step.DIRECT || segment.owner().isStopped()) {
            ioQueue.end(segment);
        } else if (segment.kind == Kind.READ) {
            segment.step = Step.COPY_IN;
            if (segment.bytesInCover() > 0) {
                copy(segment);
            } else {
                ioQueue.end(segment);
            }
        } else if (segment.done < segment.cover.bytes && !segment.cover.lengthens) {
            lockToTheEnd(segment);
        } else {
            clearBeyondEnd(segment);
            next(segment, Step.COPY_OUT);
        }
    }

    /** Reads the rest of a step by blocking calls. */
    private void readToItsEnd(Segment segment) {
        HostBytes host = BlockingBytes.INSTANCE;
        NativeFile file = segment.file();
        Request rest = segment.restOfStep();
        segment.await(Awaits.CALL);
        segment.owner().file(segment.pair).offQueue(() -> {
            try {
                long got = host.readToEnd(
                        file, rest.fileOffset(), rest.hostAddress(), rest.bytes(), host.blockBytes(file));
                NativeFailure failure = got < 0 ? host.failure(Kind.READ, got) : null;
                ioQueue.post(() -> readToItsEnd(segment, got, failure));
            } catch (IOException | RuntimeException | Error e) {
                ioQueue.post(() -> readToItsEnd(segment, 0, host.failure(Kind.READ, e)));
            }
        });
    }

    private void readToItsEnd(Segment segment, long moved, @Nullable NativeFailure failure) {
        segment.await(Awaits.NOTHING);
        if (failure != null) {
            failed(segment, failure);
        } else {
            fileMoved(segment, moved, true);
        }
    }

    /** Continues with the rest after a short count; fails if the device makes no progress. */
    private void goOn(Segment segment, long moved) {
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
        segment.done = 0;
        segment.cover.lengthens = true;
        begin(segment);
    }

    /**
     * Zeroes the part of the bounce buffer beyond the end of the file: a lengthened file must read as zeros there, not
     * as stale bytes.
     */
    private static void clearBeyondEnd(Segment segment) {
        Cover cover = segment.cover;
        if (segment.done < cover.bytes) {
            if (cover.buffer().hostAddress() != 0) { // otherwise the path clears it
                int rest = (int) (cover.bytes - segment.done);
                MemoryView.window(cover.buffer(), segment.done, rest).put(new byte[rest]);
            }
            long end = segment.fileOffset + segment.bytes;
            cover.finalLength = Math.max(end, cover.offset + segment.done);
        }
    }

    /** Counts what has passed through the bounce buffer; ends the segment, or starts with its next part. */
    private void passed(Segment segment) {
        segment.passed += segment.bytesInCover();
        segment.moved = segment.passed;
        segment.done = 0;
        if (segment.cover.finalLength >= 0) {
            next(segment, Step.LENGTH);
        } else if (segment.async == null
                || segment.passed == segment.bytes
                || segment.owner().isStopped()) {
            ioQueue.end(segment);
        } else {
            segment.retries = 0;
            next(segment, Step.DIRECT);
        }
    }

    /**
     * Restores the exact length of the file after whole blocks were written (rule 206). The claim prevents others from
     * lengthening it.
     */
    private void restoreLength(Segment segment) {
        NativeFile file = segment.file();
        long length = segment.cover.finalLength;
        // ftruncate waits for the inode lock, which other writers hold: not on the I/O queue.
        segment.await(Awaits.CALL);
        segment.owner().file(segment.pair).offQueue(() -> {
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
        segment.unlock();
        Segment next = buffers.give(segment);
        if (next != null) {
            bufferOrWait(next);
        }
    }
}
