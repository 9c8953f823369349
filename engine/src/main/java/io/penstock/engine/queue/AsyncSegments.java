// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.queue;

import io.penstock.engine.resource.BufferFile;
import io.penstock.engine.resource.MemoryView;
import io.penstock.engine.spi.AsyncFile;
import io.penstock.engine.spi.DeviceMemory;
import io.penstock.engine.spi.NativeException;
import io.penstock.engine.spi.Request.Kind;
import java.nio.ByteBuffer;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Runs a segment of a file that reads and writes host memory by itself: the target's memory where the processor reaches
 * that, else a bounce buffer at a time, which the path copies to or from the target. A segment of a buffer is one request
 * where the path reaches both memories. The I/O thread only.
 */
final class AsyncSegments {

    private final IoQueue ioQueue;
    private final Bounces bounces;

    AsyncSegments(IoQueue ioQueue, Bounces bounces) {
        this.ioQueue = ioQueue;
        this.bounces = bounces;
    }

    /** Starts the rest of a segment. */
    void begin(Segment segment, AsyncFile file) {
        boolean read = segment.kind == Kind.READ;
        long at = segment.fileOffset + segment.done;
        long rest = segment.bytes - segment.done;
        long bytes = read ? Math.min(rest, file.size() - at) : rest;
        DeviceMemory target = segment.memory();
        segment.step = Segment.Step.BODY;
        if (bytes <= 0) {
            ioQueue.end(segment); // beyond the end of the file
        } else if (file instanceof BufferFile.Source source
                && segment.owner().ioPath().copies(source.memory(), target) != null) {
            segment.request
                    .copy(Kind.COPY_IN, source.memory(), at, bytes)
                    .from(source.memory(), at)
                    .memory(target, segment.memoryOffset + segment.done);
            segment.joinOrder();
            ioQueue.enqueue(segment);
        } else if (target.hostAddress() != 0) {
            start(segment, file, bytes, target, segment.memoryOffset + segment.done);
        } else {
            segment.coverBytes = bytes;
            segment.step = Segment.Step.FILL;
            if (segment.bounce == null) {
                bounces.bufferOrWait(segment);
            } else {
                throughBuffer(segment, file);
            }
        }
    }

    /** Fills the bounce buffer of a segment, from the file or from the target. */
    void throughBuffer(Segment segment, AsyncFile file) {
        DeviceMemory bounce = segment.bounce();
        long bytes = Math.min(segment.coverBytes, bounce.bytes());
        if (segment.kind == Kind.READ) {
            start(segment, file, bytes, bounce, 0);
        } else {
            copy(segment, Kind.COPY_OUT, bytes);
        }
    }

    /** Copies the bytes that have arrived in the bounce buffer. */
    void filled(Segment segment, long bytes) {
        if (segment.owner().isStopped()) {
            ioQueue.end(segment);
        } else {
            copy(segment, Kind.COPY_IN, bytes);
        }
    }

    private void copy(Segment segment, Kind kind, long bytes) {
        segment.step = Segment.Step.COPY;
        segment.coverDone = bytes;
        segment.request
                .copy(kind, segment.bounce(), 0, bytes)
                .memory(segment.memory(), segment.memoryOffset + segment.done);
        segment.joinOrder(segment.done + bytes == segment.bytes);
        ioQueue.enqueue(segment);
    }

    /** Writes the bytes that were copied into the bounce buffer. */
    void store(Segment segment, AsyncFile file) {
        if (segment.owner().isStopped()) {
            ioQueue.end(segment);
        } else {
            segment.step = Segment.Step.STORE;
            start(segment, file, segment.coverDone, segment.bounce(), 0);
        }
    }

    private void start(Segment segment, AsyncFile file, long bytes, DeviceMemory memory, long offset) {
        segment.offQueue = true;
        long at = segment.fileOffset + segment.done;
        ByteBuffer window = MemoryView.window(memory, offset, (int) bytes);
        Consumer<@Nullable Throwable> ended = failure -> ioQueue.post(() -> ended(segment, bytes, failure));
        segment.ending = segment.kind == Kind.READ ? file.read(at, window, ended) : file.write(at, window, ended);
    }

    private void ended(Segment segment, long bytes, @Nullable Throwable failure) {
        segment.offQueue = false;
        segment.ending = null;
        if (failure == null) {
            bounces.advance(segment, bytes);
        } else if (segment.owner().isStopped()) {
            ioQueue.end(segment); // it was ended early, for another reason than this
        } else if (failure instanceof NativeException known) {
            ioQueue.failed(segment, known.failure());
        } else {
            segment.owner().fail(failure);
            ioQueue.end(segment);
        }
    }
}
