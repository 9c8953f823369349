// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.gpu.mapped;

import io.penstock.backend.gpu.device.GpuPoint;
import io.penstock.backend.gpu.mapped.FileMapping.Segment;
import io.penstock.engine.spi.NativeFailure;
import io.penstock.engine.spi.Request;
import java.util.Objects;
import java.util.Queue;
import org.jspecify.annotations.Nullable;

/**
 * A read from a mapping to the GPU, copied segment by segment: one object per tag.
 *
 * <p>It holds one segment at a time, so that a copy that waits for a segment keeps no other segment pinned.
 *
 * <p><b>Threading:</b> the I/O queue's thread, except {@link #arrived}.
 */
final class MappedCopy implements Segment.Waiter {

    final Request request;
    private final Queue<MappedCopy> arrivals;
    private final Runnable waker;

    long event; // 0 until first used
    long bytes; // of the request, up to the end of the file
    long done;
    long part; // bytes in flight, of the current segment

    @Nullable
    Segment segment;

    boolean cancelled;

    @Nullable
    NativeFailure failure;

    private volatile int registered; // the driver's result

    MappedCopy(Request request, Queue<MappedCopy> arrivals, Runnable waker) {
        this.request = request;
        this.arrivals = arrivals;
        this.waker = waker;
    }

    /** Starts the READ that the request now describes. */
    void begin() {
        bytes = file().clamp(request.fileOffset(), request.bytes());
        done = 0;
        part = 0;
        cancelled = false;
    }

    /** Reports that the awaited segment is registered, and counted as used; or why not. Called by a registrar. */
    @Override
    public void arrived(int result) {
        registered = result;
        arrivals.add(this);
        waker.run();
    }

    /** Returns the driver's result of the registration. */
    int registered() {
        return registered;
    }

    MappedFile file() {
        return (MappedFile) request.file();
    }

    Segment segment() {
        return Objects.requireNonNull(segment);
    }

    /** Returns the offset in the file of the next byte. */
    long from() {
        return request.fileOffset() + done;
    }

    /** Returns the address of the next byte in the GPU's memory. */
    long to() {
        return request.memory().nativeHandle() + request.memoryOffset() + done;
    }

    @Nullable
    GpuPoint point() {
        return (GpuPoint) request.point();
    }

    /** Reports that the last copy was started, in the order of its stream. */
    void joinOrder() {
        Runnable inOrder = request.inOrder();
        if (inOrder != null && done + part == bytes) {
            inOrder.run();
        }
    }
}
