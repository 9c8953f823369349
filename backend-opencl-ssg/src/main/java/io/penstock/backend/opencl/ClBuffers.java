// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.opencl;

import io.penstock.TransientStorageException;
import io.penstock.engine.spi.IdleMemory;
import reactor.core.scheduler.Schedulers;

/**
 * Buffers of one context, kept for reuse: releasing one may wait for everything that the device does, so that a small
 * buffer that is closed must not come to it, nor a lane ever.
 *
 * <p>A buffer is a cl_mem of its own, since OpenCL's handles have no offset. Up to 2 MiB in powers of two from 4 KiB, then
 * in multiples of 2 MiB.
 *
 * <p><b>Threading:</b> thread-safe.
 */
final class ClBuffers {

    private static final long SMALLEST_BYTES = 4096;
    private static final long LARGE_BYTES = 2L << 20;

    /** Idle buffers beyond this go back to the device. */
    private static final long MOST_IDLE_BYTES = 256L << 20;

    private final ClContext context;
    private final IdleMemory<Long, ClSpan> idle = new IdleMemory<>(MOST_IDLE_BYTES, ClSpan::bytes); // by size

    ClBuffers(ClContext context) {
        this.context = context;
    }

    /**
     * Allocates a buffer.
     *
     * @throws TransientStorageException if there is no memory left
     * @throws IllegalArgumentException if the device has no buffers of this size
     */
    ClMemory allocate(long bytes) {
        check(context, bytes);
        context.join();
        try {
            ClSpan span = take(Math.min(rounded(bytes), context.device().mostBytes()));
            return new ClMemory(span, bytes, () -> give(span));
        } catch (RuntimeException e) {
            context.leave();
            throw e;
        }
    }

    /** Goes on if a device has buffers of a size. */
    static void check(ClContext context, long bytes) {
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
            trim(); // what lies idle here in other sizes may be what is missing
            return ClSpan.create(context, bytes);
        }
    }

    private void give(ClSpan span) {
        if (idle.keep(span.bytes(), span)) {
            context.leave();
            return;
        }
        // Whoever closes a buffer last may be a lane, and this may wait for the device.
        Schedulers.boundedElastic().schedule(() -> {
            span.release();
            context.leave();
        });
    }

    /** Releases what is idle. */
    void trim() {
        idle.drain(ClSpan::release);
    }

    /** Gives everything back: nothing is handed out any more. */
    void close() {
        trim();
    }
}
