// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine;

import io.penstock.PenstockException;
import io.penstock.Transfer;
import io.penstock.engine.order.FenceOrder;
import io.penstock.engine.order.OrderKeys;
import io.penstock.engine.queue.Admission;
import io.penstock.engine.queue.Lane;
import io.penstock.engine.queue.OpenTransfer;
import io.penstock.engine.resource.EngineBuffer;
import io.penstock.engine.resource.Failures;
import io.penstock.engine.spi.FencePoint;
import org.jspecify.annotations.Nullable;
import reactor.core.scheduler.Schedulers;

/** Takes transfers in for their lane: checks them, pins what they use, chooses their route; and lets go at their end. */
final class Intake {

    private final EngineBackend backend;
    private final Checks checks;
    private final RouteChoice choice;
    private final OrderKeys orderKeys = new OrderKeys();

    Intake(EngineBackend backend, Checks checks) {
        this.backend = backend;
        this.checks = checks;
        this.choice = backend.choice();
    }

    /** Returns how many order keys transfers have in use. */
    int keys() {
        return orderKeys.size();
    }

    /** Takes a transfer in, or refuses it: neither throws nor blocks nor signals before it returns. */
    void open(OpenTransfer open) {
        Transfer transfer = open.transfer();
        FenceOrder order;
        try {
            checks.transfer(transfer);
            order = order(open);
        } catch (RuntimeException e) {
            refuse(open, e);
            return;
        }
        if (!backend.enter()) {
            refuse(open, Failures.closed(transfer, "the backend"));
            return;
        }
        int pinned = pin(open);
        RuntimeException unpinnable = pinned < transfer.pairs()
                ? Failures.closed(transfer, "its file or buffer")
                : ImagePins.take(open, backend.driver());
        if (unpinnable != null) {
            unpin(open, pinned);
            backend.leave();
            refuse(open, unpinnable);
            return;
        }
        int route = choice.first(transfer);
        String refusal = choice.isLast(route) ? choice.refusal(route, transfer) : ""; // the others have been asked
        if (!refusal.isEmpty() || (transfer.isDirectRequired() && !choice.isDirect(route))) {
            unpin(open, pinned);
            backend.leave();
            refuse(
                    open,
                    refusal.isEmpty()
                            ? Failures.notDirect(transfer, choice.whyNotDirect(transfer))
                            : Failures.refused(transfer, refusal));
            return;
        }
        choice.chosen(route, transfer);
        start(open, route, order);
    }

    private @Nullable FenceOrder order(OpenTransfer open) {
        FenceOrder exposed = open.order();
        if (exposed != null
                || (open.transfer().after().isEmpty() && open.transfer().queue().isEmpty())) {
            return exposed;
        }
        FencePoint point = backend.driver().fencePoint(open.transfer(), false);
        return point == null ? null : new FenceOrder(point, false);
    }

    private void start(OpenTransfer open, int route, @Nullable FenceOrder order) {
        Transfer transfer = open.transfer();
        Lane lane = backend.pick(route);
        if (!transfer.isRead()) {
            open.acceptWrite();
        }
        Admission terms = Admission.of(open, lane, order);
        if (terms != null) {
            open.admission(terms);
            terms.leaveToDevice(backend.routes().get(route), backend, backend.driver());
            terms.enter(orderKeys, lane, open);
        }
        open.admit(backend.routes().get(route), route, lane);
        lane.accept(open);
    }

    /** Signals on the scheduler, since nothing completes inside {@code subscribe}. */
    private void refuse(OpenTransfer open, PenstockException cause) {
        refuse(open, (RuntimeException) cause);
    }

    private void refuse(OpenTransfer open, RuntimeException cause) {
        // Without a lane: nothing is pinned, so a cancel that comes before the signal must not end it there.
        open.admit(backend.routes().get(0), 0, null);
        (backend.isDirectDelivery() ? Schedulers.parallel() : backend.scheduler()).schedule(() -> open.refuse(cause));
    }

    private int pin(OpenTransfer open) {
        // A gather pins its one file and its one buffer, not one per block.
        int pairs = open.transfer().isGather() ? 1 : open.transfer().pairs();
        for (int pair = 0; pair < pairs; pair++) {
            if (!open.file(pair).tryPin()) {
                return pair;
            }
            EngineBuffer buffer = open.buffer(pair);
            if (buffer != null && !buffer.pins().tryPin()) {
                open.file(pair).unpin();
                return pair;
            }
        }
        return open.transfer().pairs();
    }

    private static void unpin(OpenTransfer open, int count) {
        ImagePins.free(open);
        int pairs = open.transfer().isGather() ? Math.min(count, 1) : count;
        for (int pair = 0; pair < pairs; pair++) {
            open.file(pair).unpin();
            EngineBuffer buffer = open.buffer(pair);
            if (buffer != null) {
                buffer.pins().unpin();
            }
        }
    }

    /** Takes back what {@link #open} gave; on the lane, when nothing of the transfer is in native hands any more. */
    void left(OpenTransfer open) {
        open.endWrite();
        Admission terms = open.admission();
        if (terms != null) {
            terms.leave(orderKeys);
        }
        unpin(open, open.transfer().pairs());
        backend.leave();
    }
}
