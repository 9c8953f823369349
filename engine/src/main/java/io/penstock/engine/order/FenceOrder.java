// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.order;

import io.penstock.engine.spi.FencePoint;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Tracks when all requests of a transfer are stream-ordered on the device, places the point of its fence behind them,
 * and frees the point when it is no longer needed.
 *
 * <p><b>Threading:</b> {@link #segmentOrdered} and {@link #release} on any thread, the others on the I/O queue.
 */
public final class FenceOrder {

    private final FencePoint point;

    // Segments that were started and are not stream-ordered yet, plus one until all have been started.
    private final AtomicInteger missing = new AtomicInteger(1);
    private final AtomicBoolean placing = new AtomicBoolean();

    // Holds: the transfer, the placing, and the holder of the fence.
    private final AtomicInteger holders;

    private @Nullable Runnable placed; // written before the I/O queue gets the transfer
    private boolean allStarted;

    /**
     * Creates an order.
     *
     * @param held whether its fence is handed out; its holder {@linkplain #release releases} it
     */
    public FenceOrder(FencePoint point, boolean held) {
        this.point = point;
        this.holders = new AtomicInteger(held ? 3 : 2);
    }

    public FencePoint point() {
        return point;
    }

    /** Sets the action that is called, on any thread, when other work may wait on the point. */
    public void whenPlaced(Runnable action) {
        placed = action;
    }

    public void segmentStarted() {
        missing.incrementAndGet();
    }

    /** Called when the I/O queue will start no further segment. */
    public void allStarted() {
        if (!allStarted) {
            allStarted = true;
            segmentOrdered();
        }
    }

    /**
     * Called when one more segment is stream-ordered, or has ended; its effects are visible to the thread that places
     * the point.
     */
    public void segmentOrdered() {
        if (missing.decrementAndGet() == 0) {
            place();
        }
    }

    /** Called when the transfer has ended, in any state: a fence is signalled on failure too. */
    public void ended() {
        place();
        release();
    }

    /** Called instead of {@link #ended} for a transfer that never gets to an I/O queue: the point is not placed. */
    public void refused() {
        release();
        release();
    }

    private void place() {
        if (placing.compareAndSet(false, true)) {
            point.place(this::placed);
        }
    }

    private void placed() {
        Runnable action = placed;
        if (action != null) {
            action.run();
        }
        release();
    }

    /** Evaluates a question while the native object is kept alive; false if there is none, or it was freed. */
    public boolean test(BooleanSupplier question) {
        int count = holders.get();
        while (count > 0 && !holders.compareAndSet(count, count + 1)) {
            count = holders.get();
        }
        if (count == 0) {
            return false;
        }
        try {
            return point.nativeHandle() != 0 && question.getAsBoolean();
        } finally {
            release();
        }
    }

    /** Releases one hold. */
    public void release() {
        if (holders.decrementAndGet() == 0) {
            point.free();
        }
    }
}
