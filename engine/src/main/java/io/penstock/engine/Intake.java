// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine;

import io.penstock.PenstockException;
import io.penstock.Transfer;
import io.penstock.engine.order.FenceOrder;
import io.penstock.engine.order.OrderKeys;
import io.penstock.engine.queue.Admission;
import io.penstock.engine.queue.CachedRead;
import io.penstock.engine.queue.IoQueue;
import io.penstock.engine.queue.OpenTransfer;
import io.penstock.engine.queue.Port;
import io.penstock.engine.queue.TargetImages;
import io.penstock.engine.resource.ClosedPlaces;
import io.penstock.engine.resource.EngineBuffer;
import io.penstock.engine.resource.EngineFile;
import io.penstock.engine.resource.Failures;
import io.penstock.engine.resource.Owner;
import io.penstock.engine.spi.FencePoint;
import java.util.concurrent.RejectedExecutionException;
import org.jspecify.annotations.Nullable;
import reactor.core.scheduler.Schedulers;

/**
 * Admits transfers to their I/O queue: checks them, pins what they use, chooses their path; releases the pins at their
 * end.
 */
final class Intake {

    private final Port port;
    private final Checks checks;
    private final PathChoice choice;
    private final OrderKeys orderKeys = new OrderKeys();

    Intake(Port port, Checks checks, PathChoice choice) {
        this.port = port;
        this.checks = checks;
        this.choice = choice;
    }

    /** Returns the number of order keys that transfers use. */
    int keys() {
        return orderKeys.size();
    }

    /**
     * Admits or refuses a transfer. Does not throw, does not block, and does not signal before it returns, unless it
     * {@link OpenTransfer#mayEndHere}.
     */
    void open(OpenTransfer open) {
        Transfer transfer = open.transfer();
        FenceOrder order;
        try {
            if (!open.isChecked()) {
                checks.transfer(transfer);
            }
            order = order(open);
        } catch (RuntimeException | Error e) { // an Error of a driver that lacks a function
            refuse(open, null, e);
            return;
        }
        if (!port.enter()) {
            refuse(open, order, Failures.closed(transfer, "the backend"));
            return;
        }
        int pinned = pin(open);
        RuntimeException unpinnable = pinned < transfer.pairs()
                ? Failures.closed(
                        transfer, "its file or buffer", ClosedPlaces.of(open.file(pinned), open.buffer(pinned)))
                : TargetImages.take(open, port.driver());
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
        FencePoint point = port.driver().fencePoint(open.transfer(), false);
        return point == null ? null : new FenceOrder(point, false);
    }

    private void start(OpenTransfer open, int ioPath, @Nullable FenceOrder order) {
        Transfer transfer = open.transfer();
        IoQueue ioQueue = port.pick(ioPath);
        try { // keys and fences are the application's, and may throw
            Admission terms = Admission.of(open, ioQueue, order);
            if (terms != null) {
                terms.markDeviceWaits(port.ioPaths().get(ioPath), port, port.driver());
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
        open.admit(port.ioPaths().get(ioPath), ioPath, ioQueue);
        if (!CachedRead.make(open)) {
            ioQueue.accept(open);
        }
    }

    private void abandon(OpenTransfer open, @Nullable FenceOrder order, int pinned, Throwable cause) {
        unpin(open, pinned);
        port.leave();
        refuse(open, order, cause);
    }

    /** Signals on the scheduler, since no publisher completes inside {@code subscribe}. */
    private void refuse(OpenTransfer open, @Nullable FenceOrder order, Throwable cause) {
        if (order != null) {
            order.refused();
        }
        // Without an I/O queue: nothing is pinned, so a cancel before the signal must not end it there.
        open.admit(port.ioPaths().get(0), 0, null);
        try {
            (port.isDirectDelivery() ? Schedulers.parallel() : port.scheduler()).schedule(() -> open.refuse(cause));
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
            if (source != port && !source.enter()) { // the file is a buffer of another backend
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
        TargetImages.free(open);
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
        if (source != port) {
            source.leave(); // last: its backend may close then
        }
    }

    /** As {@link Port#lost}. */
    void lost(OpenTransfer open) {
        Admission terms = open.admission();
        if (terms != null) {
            terms.lose(orderKeys);
        }
    }

    /** As {@link Port#left}. */
    void left(OpenTransfer open) {
        open.endWrite();
        Admission terms = open.admission();
        if (terms != null) {
            terms.leave(orderKeys);
        }
        unpin(open, open.transfer().pairs());
        port.leave();
    }
}
