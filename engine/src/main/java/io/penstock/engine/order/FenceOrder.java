// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.order;

import io.penstock.engine.spi.FencePoint;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Knows when all that a transfer asks of the device stands in the device's own order, has the point of its fence put
 * there, and frees the point when it is not needed any more.
 *
 * <p><b>Threading:</b> {@link #stands} and {@link #letGo} on any thread, the others on the lane.
 */
public final class FenceOrder {

    private final FencePoint point;

    // Pieces that were started and do not stand in order yet, and one until all have been started.
    private final AtomicInteger missing = new AtomicInteger(1);
    private final AtomicBoolean placing = new AtomicBoolean();

    // The transfer, the placing, and the holder of the fence.
    private final AtomicInteger holders;

    private @Nullable Runnable placed; // written before the lane gets the transfer
    private boolean allStarted;

    /**
     * Makes one.
     *
     * @param held whether its fence is handed out, whose holder will {@linkplain #letGo let go} of it
     */
    public FenceOrder(FencePoint point, boolean held) {
        this.point = point;
        this.holders = new AtomicInteger(held ? 3 : 2);
    }

    public FencePoint point() {
        return point;
    }

    /** Sets what hears, on any thread, that other work may wait on the point. */
    public void whenPlaced(Runnable action) {
        placed = action;
    }

    public void pieceStarted() {
        missing.incrementAndGet();
    }

    /** Called when no further piece will be started, as far as the lane knows. */
    public void allStarted() {
        if (!allStarted) {
            allStarted = true;
            stands();
        }
    }

    /**
     * Called when one more piece is stream-ordered, or has ended; its effects are visible to the thread that places the
     * point.
     */
    public void stands() {
        if (missing.decrementAndGet() == 0) {
            place();
        }
    }

    /** Called when the transfer has ended, in whatever state: a fence is signalled on failure too. */
    public void ended() {
        place();
        letGo();
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
        letGo();
    }

    /** Asks a question while the native object stays; false where there is none, or none any more. */
    public boolean ask(BooleanSupplier question) {
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
            letGo();
        }
    }

    /** Lets go for one of the holders. */
    public void letGo() {
        if (holders.decrementAndGet() == 0) {
            point.free();
        }
    }
}
