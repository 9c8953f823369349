// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.cufile.mapped;

import io.penstock.backend.cufile.device.CudaPoint;
import io.penstock.backend.cufile.mapped.pages.FileMapping.Segment;
import io.penstock.engine.spi.NativeFailure;
import io.penstock.engine.spi.Request;
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

    long event; // the CUevent; 0 until first used

    @Nullable
    MappedFile file;

    long fileOffset;
    long target;
    long bytes;

    @Nullable
    CudaPoint point;

    @Nullable
    Runnable inOrder;

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
        MappedFile source = (MappedFile) request.file();
        file = source;
        fileOffset = request.fileOffset();
        target = request.memory().nativeHandle() + request.memoryOffset();
        bytes = source.clamp(fileOffset, request.bytes());
        point = (CudaPoint) request.point();
        inOrder = request.inOrder();
        done = 0;
        part = 0;
        segment = null;
        cancelled = false;
        failure = null;
    }

    /** Clears the references of the request. */
    void clear() {
        file = null;
        point = null;
        inOrder = null;
        segment = null;
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
        return present(file);
    }

    Segment segment() {
        return present(segment);
    }

    private static <T> T present(@Nullable T value) {
        if (value == null) {
            throw new IllegalStateException("this copy does not have that part");
        }
        return value;
    }
}
