// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.cufile;

import io.penstock.PenstockException;
import io.penstock.engine.spi.IdleMemory;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * The pinned slots of one context; a few are kept for reuse, since pinning takes about a millisecond for a few
 * megabytes, and an upload takes a slot.
 *
 * <p><b>Threading:</b> thread-safe.
 */
final class PinnedSlots {

    static final AtomicLong LIVE = new AtomicLong();

    private static final long MOST_IDLE_BYTES = 16L << 20;

    private final CudaContext context;
    private final IdleMemory<PinnedSlot.Kind, PinnedSlot> idle = new IdleMemory<>(MOST_IDLE_BYTES, PinnedSlot::bytes);
    private @Nullable CopyStreams streams; // guarded by this

    PinnedSlots(CudaContext context) {
        this.context = context;
    }

    /** Takes a slot in memory of the driver's, as below. */
    PinnedSlot take(long bytes) {
        return take(new PinnedSlot.Kind(bytes, SlotMemory.DRIVER));
    }

    /**
     * Takes a slot.
     *
     * @throws io.penstock.TransientStorageException if no more memory can be pinned
     */
    PinnedSlot take(PinnedSlot.Kind kind) {
        context.join();
        try {
            PinnedSlot known = idle.take(kind);
            PinnedSlot slot = known != null ? known : allocate(kind);
            LIVE.incrementAndGet();
            return slot;
        } catch (RuntimeException e) {
            context.leave();
            throw e;
        }
    }

    private PinnedSlot allocate(PinnedSlot.Kind kind) {
        return context.run("pinning", () -> PinnedSlot.allocate(context, kind, streams(kind)));
    }

    private synchronized CopyStreams streams(PinnedSlot.Kind kind) {
        CopyStreams known = streams;
        if (known == null) {
            known = CopyStreams.open(PinnedSlot.request(kind));
            streams = known;
        }
        return known;
    }

    void give(PinnedSlot slot) {
        LIVE.decrementAndGet();
        if (!idle.keep(slot.kind(), slot)) {
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
    synchronized void close() {
        idle.drain(this::release);
        if (streams != null) {
            release("the slots' streams", streams::close);
            streams = null;
        }
    }
}
