// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.cufile.staged;

import io.penstock.PenstockException;
import io.penstock.backend.cufile.cuda.CudaContext;
import io.penstock.engine.spi.IdleMemory;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * The pinned slots of one context; a few are kept for reuse, since pinning takes about a millisecond for a few
 * megabytes, and an upload takes a slot.
 *
 * <p><b>Threading:</b> thread-safe.
 */
public final class PinnedSlots implements CudaContext.Part {

    public static final AtomicLong LIVE = new AtomicLong();

    private static final long MOST_IDLE_BYTES = 16L << 20;

    private final CudaContext context;
    private final IdleMemory<Long, PinnedSlot> idle = new IdleMemory<>(MOST_IDLE_BYTES, PinnedSlot::bytes); // by size
    private @Nullable CopyStreams streams; // guarded by this

    private PinnedSlots(CudaContext context) {
        this.context = context;
    }

    /** Returns the slots of a context. */
    public static PinnedSlots of(CudaContext context) {
        return context.part(PinnedSlots.class, PinnedSlots::new);
    }

    /**
     * Takes a slot.
     *
     * @throws io.penstock.TransientStorageException if no more memory can be pinned
     */
    public PinnedSlot take(long bytes) {
        context.join();
        try {
            PinnedSlot known = idle.take(bytes);
            PinnedSlot slot = known != null
                    ? known
                    : context.run("pinning", () -> PinnedSlot.allocate(this::give, streams(), bytes));
            LIVE.incrementAndGet();
            return slot;
        } catch (RuntimeException e) {
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

    void give(PinnedSlot slot) {
        LIVE.decrementAndGet();
        if (!idle.keep(slot.bytes(), slot)) {
            release(slot);
        }
        context.leave();
    }

    private void release(PinnedSlot slot) {
        release("a slot", slot::release);
    }

    private void release(String what, Runnable calls) {
        try {
            context.run("release of " + what, () -> {
                calls.run();
                return what;
            });
        } catch (PenstockException lost) {
            // the context is gone, and what was made in it
        }
    }

    /** Gives everything back: nothing is taken any more. */
    @Override
    public synchronized void close() {
        idle.drain(this::release);
        if (streams != null) {
            release("the slots' streams", streams::close);
            streams = null;
        }
    }
}
