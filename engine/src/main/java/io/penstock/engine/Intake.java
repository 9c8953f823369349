// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine;

import io.penstock.ImageRegion;
import io.penstock.PenstockException;
import io.penstock.Transfer;
import io.penstock.engine.order.FenceOrder;
import io.penstock.engine.order.OrderKeys;
import io.penstock.engine.queue.Admission;
import io.penstock.engine.queue.IoQueue;
import io.penstock.engine.queue.OpenTransfer;
import io.penstock.engine.queue.Port;
import io.penstock.engine.resource.EngineBuffer;
import io.penstock.engine.resource.EngineFile;
import io.penstock.engine.resource.Failures;
import io.penstock.engine.resource.Owner;
import io.penstock.engine.spi.DeviceDriver;
import io.penstock.engine.spi.DeviceMemory;
import io.penstock.engine.spi.FencePoint;
import java.util.concurrent.RejectedExecutionException;
import org.jspecify.annotations.Nullable;
import reactor.core.scheduler.Schedulers;

/**
 * Admits transfers to their I/O queue: checks them, pins what they use, chooses their path; releases the pins at their
 * end.
 */
abstract class Intake implements Port {
    private final OrderKeys orderKeys = new OrderKeys();

    abstract Checks checks();

    abstract PathChoice choice();

    /** Returns the number of order keys that transfers use. */
    int keys() {
        return orderKeys.size();
    }

    /** Admits or refuses a transfer. Does not throw, does not block, and does not signal before it returns. */
    @Override
    public final void open(OpenTransfer open) {
        Transfer transfer = open.transfer();
        FenceOrder order;
        try {
            if (!open.isChecked()) {
                checks().transfer(transfer);
            }
            order = order(open);
        } catch (RuntimeException | Error e) { // an Error of a driver that lacks a function
            refuse(open, null, e);
            return;
        }
        if (!enter()) {
            refuse(open, order, Failures.closed(transfer, "the backend"));
            return;
        }
        PathChoice choice = choice();
        int pinned = pin(open);
        RuntimeException unpinnable = pinned < transfer.pairs()
                ? Failures.closed(transfer, "its file or buffer")
                : takeImages(open, driver());
        if (unpinnable != null) {
            abandon(open, order, pinned, unpinnable);
            return;
        }
        int ioPath = choice.take(transfer);
        String refusal = choice.isLast(ioPath) ? choice.refusal(ioPath, transfer) : ""; // the others have been checked
        if (!refusal.isEmpty() || (transfer.isDirectRequired() && !choice.isDirect(ioPath, transfer))) {
            PenstockException why = refusal.isEmpty()
                    ? Failures.notDirect(transfer, choice.whyNotDirect(transfer))
                    : Failures.refused(transfer, refusal);
            abandon(open, order, pinned, why);
            return;
        }
        choice.chosen(ioPath, transfer);
        start(open, ioPath, order);
    }

    private @Nullable FenceOrder order(OpenTransfer open) {
        FenceOrder exposed = open.order();
        if (exposed != null
                || (open.transfer().after().isEmpty() && open.transfer().queue().isEmpty())) {
            return exposed;
        }
        FencePoint point = driver().fencePoint(open.transfer(), false);
        return point == null ? null : new FenceOrder(point, false);
    }

    private void start(OpenTransfer open, int ioPath, @Nullable FenceOrder order) {
        Transfer transfer = open.transfer();
        IoQueue ioQueue = pick(ioPath);
        try { // keys and fences are the application's, and may throw
            Admission terms = Admission.of(open, ioQueue, order);
            if (terms != null) {
                terms.markDeviceWaits(ioPaths().get(ioPath), this, driver());
                terms.enter(orderKeys, ioQueue, open);
                open.admission(terms);
            }
        } catch (RuntimeException | Error e) {
            abandon(open, order, transfer.pairs(), e);
            return;
        }
        if (!transfer.isRead()) {
            open.acceptWrite();
        }
        open.admit(ioPaths().get(ioPath), ioPath, ioQueue);
        ioQueue.accept(open);
    }

    private void abandon(OpenTransfer open, @Nullable FenceOrder order, int pinned, Throwable cause) {
        unpin(open, pinned);
        leave();
        refuse(open, order, cause);
    }

    /** Signals on the scheduler, since no publisher completes inside {@code subscribe}. */
    private void refuse(OpenTransfer open, @Nullable FenceOrder order, Throwable cause) {
        if (order != null) {
            order.refused();
        }
        // Without an I/O queue: nothing is pinned, so a cancel before the signal must not end it there.
        open.admit(ioPaths().get(0), 0, null);
        try {
            (isDirectDelivery() ? Schedulers.parallel() : scheduler()).schedule(() -> open.refuse(cause));
        } catch (RejectedExecutionException e) {
            // The application has shut down its scheduler: a signal on the wrong thread is better than none.
            open.refuse(cause);
        }
    }

    private int pin(OpenTransfer open) {
        // A gather pins its one file and its one buffer, not one per block.
        int pairs = open.transfer().isGather() ? 1 : open.transfer().pairs();
        for (int pair = 0; pair < pairs; pair++) {
            EngineFile file = open.file(pair);
            if (!file.tryPin()) {
                return pair;
            }
            Owner source = file.owner();
            if (source != this && !source.enter()) { // the file is a buffer of another backend
                file.unpin();
                return pair;
            }
            EngineBuffer buffer = open.buffer(pair);
            if (buffer != null && !buffer.pins().tryPin()) {
                unpin(file);
                return pair;
            }
        }
        return open.transfer().pairs();
    }

    private void unpin(OpenTransfer open, int count) {
        freeImages(open);
        int pairs = open.transfer().isGather() ? Math.min(count, 1) : count;
        for (int pair = 0; pair < pairs; pair++) {
            unpin(open.file(pair));
            EngineBuffer buffer = open.buffer(pair);
            if (buffer != null) {
                buffer.pins().unpin();
            }
        }
    }

    private void unpin(EngineFile file) {
        Owner source = file.owner();
        file.unpin();
        if (source != this) {
            source.leave(); // last: its backend may close then
        }
    }

    /**
     * Retains the images of a transfer on the device, until its native completion (rule 201); returns why one is not
     * available there, and then retains none.
     */
    private static @Nullable RuntimeException takeImages(OpenTransfer open, DeviceDriver driver) {
        Transfer transfer = open.transfer();
        int pairs = transfer.isGather() ? 0 : transfer.pairs(); // gathers go to buffers
        for (int pair = 0; pair < pairs; pair++) {
            if (transfer.target(pair) instanceof ImageRegion region) {
                if (open.images == null) {
                    open.images = new @Nullable DeviceMemory[pairs];
                }
                try {
                    open.images[pair] = driver.image(region);
                } catch (RuntimeException e) {
                    freeImages(open);
                    return e;
                }
            }
        }
        return null;
    }

    private static void freeImages(OpenTransfer open) {
        @Nullable DeviceMemory[] images = open.images;
        open.images = null;
        for (int pair = 0; images != null && pair < images.length; pair++) {
            DeviceMemory image = images[pair];
            if (image != null) {
                image.free();
            }
        }
    }

    @Override
    public final void lost(OpenTransfer open) {
        Admission terms = open.admission();
        if (terms != null) {
            terms.lose(orderKeys);
        }
    }

    @Override
    public final void left(OpenTransfer open) {
        open.endWrite();
        Admission terms = open.admission();
        if (terms != null) {
            terms.leave(orderKeys);
        }
        unpin(open, open.transfer().pairs());
        leave();
    }
}
