// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.queue;

import io.penstock.DeviceFence;
import io.penstock.Transfer;
import io.penstock.engine.order.FenceOrder;
import io.penstock.engine.order.OrderKeys;
import io.penstock.engine.spi.DeviceDriver;
import io.penstock.engine.spi.Route;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/**
 * The terms of a transfer that is not plain: what it waits for, and until when it must have ended.
 *
 * <p>Made by the subscriber's thread, then the lane's alone; whatever it waits for posts to the lane.
 */
public final class Admission {

    private final Transfer transfer;
    private final long deadlineNanos;
    private OrderKeys.@Nullable Turn turn;
    private final List<DeviceFence> onDevice = new ArrayList<>(0); // written before the lane gets the transfer
    private boolean startsFirst; // written before the lane gets the transfer
    private boolean called; // lane only, as all below
    private boolean asked;
    private boolean fencesAsked;
    private int fencesPending;
    private final @Nullable FenceOrder order;

    private Admission(Transfer transfer, long deadlineNanos, @Nullable FenceOrder order) {
        this.transfer = transfer;
        this.deadlineNanos = deadlineNanos;
        this.order = order;
    }

    public static @Nullable Admission of(OpenTransfer open, Lane lane, @Nullable FenceOrder order) {
        Transfer transfer = open.transfer();
        if (transfer.isPlain() && order == null) {
            return null;
        }
        if (order != null) {
            order.whenPlaced(() -> lane.post(open::placed));
        }
        // Beyond some 290 years a deadline is none.
        long deadline = transfer.deadline()
                .map(limit -> lane.nanos()
                        + Math.min(limit.toMillis(), Long.MAX_VALUE / 2_000_000) * 1_000_000
                        + limit.toNanosPart() % 1_000_000)
                .orElse(Long.MAX_VALUE);
        return new Admission(transfer, deadline, order);
    }

    long deadlineNanos() {
        return deadlineNanos;
    }

    /** Returns its place in the device's own order; null for most. */
    @Nullable
    FenceOrder order() {
        return order;
    }

    /** Leaves to the device the fences that the requests of a route wait for there; on the subscriber's thread. */
    public void leaveToDevice(Route route, Port port, DeviceDriver driver) {
        FenceOrder place = order;
        if (place == null) {
            return;
        }
        Predicate<DeviceFence> awaited =
                fence -> fence.nativeHandle() != 0 && route.awaits(transfer, place.point(), fence);
        for (DeviceFence fence : transfer.after()) {
            boolean onIt;
            if (fence.isSignalled()) {
                onIt = false;
            } else if (fence instanceof TransferFence ours) {
                onIt = ours.port() == port && ours.ask(awaited);
            } else if (fence instanceof BroughtFence brought) {
                onIt = brought.port() == port && awaited.test(brought.fence());
            } else {
                onIt = driver.makes(fence) && awaited.test(fence);
            }
            if (onIt) {
                onDevice.add(fence);
            }
        }
    }

    /** Joins the transfers of the same key, in the order of subscription; on the subscriber's thread. */
    public void enter(OrderKeys keys, Lane lane, OpenTransfer open) {
        Object key = transfer.orderKey().orElse(null);
        if (key == null) {
            startsFirst = true;
            return;
        }
        OrderKeys.Turn place = new OrderKeys.Turn(key, () -> lane.post(() -> called(lane, open)));
        turn = place;
        startsFirst = keys.enter(place);
    }

    private void called(Lane lane, OpenTransfer open) {
        called = true;
        // The one before may have ended while this one is still on its way to the lane: its arrival starts it then.
        if (asked) {
            lane.proceed(open);
        }
    }

    /** Leaves the transfers of the same key, so that the next may start. */
    public void leave(OrderKeys keys) {
        OrderKeys.Turn place = turn;
        if (place != null) {
            keys.leave(place);
        }
        if (order != null) {
            order.ended();
        }
    }

    /**
     * Returns whether nothing of its own terms holds the transfer back; if something does, the lane is notified when that
     * ends.
     */
    boolean isMet(Lane lane, OpenTransfer open) {
        asked = true;
        if (!startsFirst && !called) {
            return false;
        }
        if (!fencesAsked) {
            fencesAsked = true;
            for (DeviceFence fence : transfer.after()) {
                if (!onDevice.contains(fence) && !fence.isSignalled()) {
                    fencesPending++;
                    // Signalled on failure too; the fence's own outcome has the error, and this transfer continues.
                    Mono<Void> passed = fence instanceof TransferFence ours ? ours.passed() : fence.signalled();
                    passed.subscribe(nothing -> {}, e -> passed(lane, open), () -> passed(lane, open));
                }
            }
        }
        return fencesPending == 0;
    }

    private void passed(Lane lane, OpenTransfer open) {
        lane.post(() -> {
            fencesPending--;
            lane.proceed(open);
        });
    }
}
