// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.queue;

import io.penstock.engine.resource.BufferFile;
import io.penstock.engine.resource.MemoryView;
import io.penstock.engine.spi.AsyncFile;
import io.penstock.engine.spi.DeviceMemory;
import io.penstock.engine.spi.NativeException;
import io.penstock.engine.spi.Request.Kind;

/**
 * Runs a segment of a file that fills host memory by itself: it fills the target where the processor reaches that, else a
 * bounce buffer at a time, which the path copies to the target. A segment of a buffer is one request where the path reaches
 * both memories. The I/O thread only.
 */
final class AsyncReads {

    private final IoQueue ioQueue;
    private final Bounces bounces;

    AsyncReads(IoQueue ioQueue, Bounces bounces) {
        this.ioQueue = ioQueue;
        this.bounces = bounces;
    }

    /** Starts the rest of a segment. */
    void begin(Segment segment, AsyncFile from) {
        long at = segment.fileOffset + segment.done;
        long bytes = Math.min(segment.bytes - segment.done, from.size() - at);
        DeviceMemory to = segment.memory();
        segment.step = Segment.Step.BODY;
        if (bytes <= 0) {
            ioQueue.end(segment); // beyond the end of the file
        } else if (from instanceof BufferFile.Source source
                && segment.owner().ioPath().copies(source.memory(), to) != null) {
            segment.request
                    .copy(Kind.COPY_IN, source.memory(), at, bytes)
                    .from(source.memory(), at)
                    .memory(to, segment.memoryOffset + segment.done);
            segment.joinOrder();
            ioQueue.enqueue(segment);
        } else if (to.hostAddress() != 0) {
            read(segment, from, bytes, to, segment.memoryOffset + segment.done);
        } else {
            segment.coverBytes = bytes;
            segment.step = Segment.Step.FILL;
            if (segment.bounce == null) {
                bounces.bufferOrWait(segment);
            } else {
                throughBuffer(segment, from);
            }
        }
    }

    /** Fills the bounce buffer of a segment. */
    void throughBuffer(Segment segment, AsyncFile from) {
        DeviceMemory bounce = segment.bounce();
        read(segment, from, Math.min(segment.coverBytes, bounce.bytes()), bounce, 0);
    }

    private void read(Segment segment, AsyncFile from, long bytes, DeviceMemory to, long offset) {
        segment.offQueue = true;
        segment.ending = from.read(
                segment.fileOffset + segment.done,
                MemoryView.window(to, offset, (int) bytes),
                failure -> ioQueue.post(() -> {
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
                }));
    }

    /** Copies the bytes that have arrived in the bounce buffer. */
    void filled(Segment segment, long bytes) {
        if (segment.owner().isStopped()) {
            ioQueue.end(segment);
            return;
        }
        segment.step = Segment.Step.COPY;
        segment.coverDone = bytes;
        segment.request
                .copy(Kind.COPY_IN, segment.bounce(), 0, bytes)
                .memory(segment.memory(), segment.memoryOffset + segment.done);
        segment.joinOrder(segment.done + bytes == segment.bytes);
        ioQueue.enqueue(segment);
    }
}
