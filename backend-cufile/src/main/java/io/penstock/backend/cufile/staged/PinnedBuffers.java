// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.cufile.staged;

import io.penstock.PenstockException;
import io.penstock.backend.cufile.cuda.CudaContext;
import io.penstock.engine.spi.IdleMemory;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * The pinned staging buffers of one context; a few are kept for reuse, since pinning takes about a millisecond for a
 * few megabytes, and an upload takes a staging buffer.
 *
 * <p><b>Threading:</b> thread-safe.
 */
public final class PinnedBuffers implements CudaContext.Part {

    public static final AtomicLong LIVE = new AtomicLong();

    private static final long MOST_IDLE_BYTES = 16L << 20;

    private final CudaContext context;
    private final IdleMemory<Long, PinnedBuffer> idle =
            new IdleMemory<>(MOST_IDLE_BYTES, PinnedBuffer::bytes); // by size
    private @Nullable CopyStreams streams; // guarded by this

    private PinnedBuffers(CudaContext context) {
        this.context = context;
    }

    /** Returns the staging buffers of a context. */
    public static PinnedBuffers of(CudaContext context) {
        return context.part(PinnedBuffers.class, PinnedBuffers::new);
    }

    /**
     * Takes a staging buffer.
     *
     * @throws io.penstock.TransientStorageException if no more memory can be pinned
     */
    public PinnedBuffer take(long bytes) {
        context.join();
        try {
            PinnedBuffer known = idle.take(bytes);
            PinnedBuffer staging = known != null
                    ? known
                    : context.run("pinning", () -> PinnedBuffer.allocate(this::give, streams(), bytes));
            LIVE.incrementAndGet();
            return staging;
        } catch (RuntimeException | Error e) {
            context.leave();
            throw e;
        }
    }

    private synchronized CopyStreams streams() {
        CopyStreams known = streams;
        if (known == null) {
            known = CopyStreams.open();
            streams = known;
        }
        return known;
    }

    void give(PinnedBuffer staging) {
        LIVE.decrementAndGet();
        if (!idle.keep(staging.bytes(), staging)) {
            release(staging);
        }
        context.leave();
    }

    private void release(PinnedBuffer staging) {
        release("a staging buffer", staging::release);
    }

    private void release(String what, Runnable calls) {
        try {
            context.run("release of " + what, () -> {
                calls.run();
                return what;
            });
        } catch (PenstockException lost) {
            // the context is gone, and so is its memory
        }
    }

    /** Frees all idle buffers; none is taken after this. */
    @Override
    public synchronized void close() {
        idle.drain(this::release);
        if (streams != null) {
            release("the staging buffers' streams", streams::close);
            streams = null;
        }
    }
}
