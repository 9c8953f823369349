// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.opencl.staged;

import io.penstock.backend.opencl.context.ClContext;
import io.penstock.engine.spi.IdleMemory;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * The staging buffers of one context; a few are kept for reuse, since pinning is slow, and an upload takes a staging
 * buffer.
 *
 * <p><b>Threading:</b> thread-safe.
 */
public final class ClStagingBuffers implements ClContext.Part {

    public static final AtomicLong LIVE = new AtomicLong();

    private static final long MOST_IDLE_BYTES = 16L << 20;

    private final ClContext context;
    private final IdleMemory<ClStagingBuffer.Kind, ClStagingBuffer> idle =
            new IdleMemory<>(MOST_IDLE_BYTES, ClStagingBuffer::bytes);
    private @Nullable CopyQueues queues; // guarded by this

    private ClStagingBuffers(ClContext context) {
        this.context = context;
    }

    /** Returns the staging buffers of a context. */
    static ClStagingBuffers of(ClContext context) {
        return context.part(ClStagingBuffers.class, ClStagingBuffers::new);
    }

    /**
     * Takes a staging buffer.
     *
     * @throws io.penstock.TransientStorageException if there is no memory left
     */
    ClStagingBuffer take(ClStagingBuffer.Kind kind) {
        context.join();
        try {
            ClStagingBuffer known = idle.take(kind);
            ClStagingBuffer staging =
                    known != null ? known : ClStagingBuffer.allocate(context, queues(), kind, this::give);
            LIVE.incrementAndGet();
            return staging;
        } catch (RuntimeException | Error e) {
            context.leave();
            throw e;
        }
    }

    private synchronized CopyQueues queues() {
        CopyQueues known = queues;
        if (known == null) {
            known = CopyQueues.open(context);
            queues = known;
        }
        return known;
    }

    private void give(ClStagingBuffer staging) {
        LIVE.decrementAndGet();
        if (!idle.keep(staging.kind(), staging)) {
            staging.release();
        }
        context.leave();
    }

    /** Frees all idle buffers and the queues; no buffer is taken after this. */
    @Override
    public synchronized void close() {
        idle.drain(ClStagingBuffer::release);
        if (queues != null) {
            queues.close();
            queues = null;
        }
    }
}
