// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.queue;

import io.penstock.engine.resource.BufferFile;
import io.penstock.engine.resource.MemoryView;
import io.penstock.engine.spi.DeviceMemory;
import io.penstock.engine.spi.Request.Kind;

/**
 * Runs a segment that is read from a buffer: by one request where the path reaches both memories; otherwise through host
 * memory, a bounce buffer at a time, into which the buffer's own backend copies. The I/O thread only.
 */
final class BufferCopies {

    private final IoQueue ioQueue;
    private final Bounces bounces;

    BufferCopies(IoQueue ioQueue, Bounces bounces) {
        this.ioQueue = ioQueue;
        this.bounces = bounces;
    }

    /** Starts the rest of a segment. */
    void begin(Segment segment, BufferFile.Source from) {
        long at = segment.fileOffset + segment.done;
        long bytes = Math.min(segment.bytes - segment.done, from.size() - at);
        DeviceMemory to = segment.memory();
        segment.step = Segment.Step.BODY;
        if (bytes <= 0) {
            ioQueue.end(segment); // beyond the end of the buffer
        } else if (segment.owner().ioPath().copies(from.memory(), to) != null) {
            segment.request
                    .copy(Kind.COPY_IN, from.memory(), at, bytes)
                    .from(from.memory(), at)
                    .memory(to, segment.memoryOffset + segment.done);
            segment.joinOrder();
            ioQueue.enqueue(segment);
        } else if (to.hostAddress() != 0) {
            download(segment, from, bytes, to, segment.memoryOffset + segment.done);
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
    void throughBuffer(Segment segment, BufferFile.Source from) {
        DeviceMemory bounce = segment.bounce();
        download(segment, from, Math.min(segment.coverBytes, bounce.bytes()), bounce, 0);
    }

    private void download(Segment segment, BufferFile.Source from, long bytes, DeviceMemory to, long offset) {
        segment.offQueue = true;
        from.download(
                segment.fileOffset + segment.done,
                MemoryView.window(to, offset, (int) bytes),
                failure -> ioQueue.post(() -> {
                    segment.offQueue = false;
                    if (failure != null) {
                        segment.owner().fail(failure);
                        ioQueue.end(segment);
                    } else {
                        bounces.advance(segment, bytes);
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
