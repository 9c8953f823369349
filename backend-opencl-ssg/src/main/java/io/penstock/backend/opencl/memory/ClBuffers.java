// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.opencl.memory;

import io.penstock.TransientStorageException;
import io.penstock.backend.opencl.context.ClContext;
import io.penstock.engine.kit.ElasticCalls;
import io.penstock.engine.kit.IdleMemory;
import io.penstock.engine.kit.SharedContext;

/**
 * Buffers of one context, kept for reuse: releasing one may wait for all work on the device, so closing a small buffer
 * must not do so, and an I/O queue must never.
 *
 * <p>Each buffer is a separate cl_mem, since OpenCL's handles have no offset. Sizes up to 2 MiB are powers of two from
 * 4 KiB, larger ones multiples of 2 MiB.
 *
 * <p><b>Threading:</b> thread-safe.
 */
public final class ClBuffers implements SharedContext.Part {

    private static final long SMALLEST_BYTES = 4096;
    private static final long LARGE_BYTES = 2L << 20;

    /** Idle buffers above this are released. */
    private static final long MOST_IDLE_BYTES = 256L << 20;

    private final ClContext context;
    private final IdleMemory<Long, ClSpan> idle = new IdleMemory<>(MOST_IDLE_BYTES, ClSpan::bytes); // by size

    private ClBuffers(ClContext context) {
        this.context = context;
    }

    /** Returns the buffers of a context. */
    public static ClBuffers of(ClContext context) {
        return context.part(ClBuffers.class, ClBuffers::new);
    }

    /**
     * Allocates a buffer.
     *
     * @throws TransientStorageException if there is no memory left
     * @throws IllegalArgumentException if the device does not support this size
     */
    public ClMemory allocate(long bytes) {
        check(context, bytes);
        context.join();
        try {
            ClSpan span = take(Math.min(rounded(bytes), context.device().mostBytes()));
            return new ClMemory(context, span, bytes, () -> give(span));
        } catch (RuntimeException | Error e) {
            context.leave();
            throw e;
        }
    }

    /** Throws unless a device supports buffers of a size. */
    public static void check(ClContext context, long bytes) {
        long most = context.device().mostBytes();
        if (bytes > most) {
            throw new IllegalArgumentException(
                    bytes + " bytes are more than a buffer can have on " + context.device() + ": " + most);
        }
    }

    private static long rounded(long bytes) {
        if (bytes > LARGE_BYTES) {
            return (bytes + LARGE_BYTES - 1) & -LARGE_BYTES;
        }
        return Math.max(SMALLEST_BYTES, Long.highestOneBit(Math.max(1, bytes - 1)) << 1);
    }

    private ClSpan take(long bytes) {
        ClSpan known = idle.take(bytes);
        if (known != null) {
            return known;
        }
        try {
            return ClSpan.create(context, bytes);
        } catch (TransientStorageException none) {
            close(); // idle memory of other sizes may be what is missing
            return ClSpan.create(context, bytes);
        }
    }

    private void give(ClSpan span) {
        if (idle.keep(span.bytes(), span)) {
            context.leave();
            return;
        }
        // The last close of a buffer may happen on an I/O queue, and this may wait for the device.
        ElasticCalls.run(() -> {
            span.release();
            context.leave();
        });
    }

    /** Releases the idle buffers. */
    @Override
    public void close() {
        idle.drain(ClSpan::release);
    }
}
