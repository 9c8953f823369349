// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.queue;

import io.penstock.DeviceFence;
import io.penstock.Transfer;
import io.penstock.engine.order.FenceOrder;
import io.penstock.engine.order.OrderKeys;
import io.penstock.engine.spi.DeviceDriver;
import io.penstock.engine.spi.IoPath;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import reactor.core.Disposable;
import reactor.core.Disposables;
import reactor.core.publisher.Mono;

/**
 * Start conditions and deadline of a transfer that has any.
 *
 * <p>Created on the subscriber's thread, then used by the I/O queue only; conditions that become true post to the I/O
 * queue.
 */
public final class Admission {

    private static final Duration LONGEST = Duration.ofNanos(Long.MAX_VALUE / 2);

    private static final int UNKNOWN = -1;

    private final Transfer transfer;
    private final long deadlineNanos;
    private OrderKeys.@Nullable Turn turn;
    private final List<DeviceFence> onDevice = new ArrayList<>(0); // written before the I/O queue gets the transfer

    // Whether it is the turn of its order key: written before the I/O queue gets the transfer, if that was so from the
    // start, and otherwise by the I/O queue, which only uses the next two.
    private boolean called;
    private boolean arrived;
    private int fencesPending = UNKNOWN; // until it is called and has arrived

    private final Disposable.@Nullable Composite waits; // for fences; thread-safe; null without fences
    private final @Nullable FenceOrder order;

    private Admission(Transfer transfer, long deadlineNanos, @Nullable FenceOrder order) {
        this.transfer = transfer;
        this.deadlineNanos = deadlineNanos;
        this.waits = transfer.after().isEmpty() ? null : Disposables.composite();
        this.order = order;
    }

    public static @Nullable Admission of(OpenTransfer open, IoQueue ioQueue, @Nullable FenceOrder order) {
        Transfer transfer = open.transfer();
        if (transfer.isPlain() && order == null) {
            return null;
        }
        if (order != null) {
            order.whenPlaced(() -> ioQueue.post(open::placed));
        }
        // A deadline beyond about 290 years is none.
        long deadline = transfer.deadline()
                .filter(limit -> limit.compareTo(LONGEST) < 0)
                .map(limit -> ioQueue.nanos() + limit.toNanos())
                .orElse(Long.MAX_VALUE);
        return new Admission(transfer, deadline, order);
    }

    long deadlineNanos() {
        return deadlineNanos;
    }

    /** Returns its fence point in the device's stream; null for most. */
    @Nullable
    FenceOrder order() {
        return order;
    }

    /** Marks the fences that the requests of a path wait for on the device; called on the subscriber's thread. */
    public void markDeviceWaits(IoPath ioPath, Port port, DeviceDriver driver) {
        FenceOrder place = order;
        if (place == null) {
            return;
        }
        Predicate<DeviceFence> awaited =
                fence -> fence.nativeHandle() != 0 && ioPath.awaits(transfer, place.point(), fence);
        for (DeviceFence fence : transfer.after()) {
            boolean onIt;
            if (fence.isSignalled()) {
                onIt = false;
            } else if (fence instanceof TransferFence own) {
                onIt = own.port() == port && own.test(awaited);
            } else if (fence instanceof ImportedFence imported) {
                onIt = imported.owner() == port && awaited.test(imported.fence());
            } else {
                onIt = driver.makes(fence) && awaited.test(fence);
            }
            if (onIt) {
                onDevice.add(fence);
            }
        }
    }

    /** Enters the queue of its order key, in order of subscription; called on the subscriber's thread. */
    public void enter(OrderKeys keys, IoQueue ioQueue, OpenTransfer open) {
        Object key = transfer.orderKey().orElse(null);
        if (key == null) {
            called = true;
            return;
        }
        OrderKeys.Turn place = new OrderKeys.Turn(key, () -> ioQueue.post(() -> called(ioQueue, open)));
        turn = place;
        if (keys.enter(place)) {
            called = true; // and otherwise not written here: the I/O queue may do so at any time
        }
    }

    private void called(IoQueue ioQueue, OpenTransfer open) {
        called = true;
        // The one before may have ended before this one reaches the I/O queue: then its arrival starts it.
        if (arrived) {
            ioQueue.proceed(open);
        }
    }

    /** Lets the next transfer of its order key start, although this one may still be in flight. */
    public void lose(OrderKeys keys) {
        if (waits != null) {
            waits.dispose(); // a fence may outlive many cancelled transfers
        }
        OrderKeys.Turn place = turn;
        if (place != null) {
            keys.leave(place);
        }
    }

    /** Leaves the queue of its order key, so that the next transfer may start, and places its fence. */
    public void leave(OrderKeys keys) {
        lose(keys);
        if (order != null) {
            order.ended();
        }
    }

    /**
     * Returns true if all its start conditions are met; otherwise the I/O queue is notified when the pending one is.
     */
    boolean isMet(IoQueue ioQueue, OpenTransfer open) {
        arrived = true;
        if (!called) {
            return false;
        }
        if (fencesPending == UNKNOWN) {
            fencesPending = 0;
            for (DeviceFence fence : transfer.after()) {
                if (waits != null && !onDevice.contains(fence) && !isSignalled(fence)) {
                    fencesPending++;
                    // Signalled on failure too; the fence's outcome has the error, and this transfer continues.
                    // Deferred, since a fence of the application may throw, which must not end the I/O queue.
                    Mono<Void> signalled =
                            fence instanceof TransferFence own ? own.signalledOnQueue() : Mono.defer(fence::signalled);
                    waits.add(signalled.subscribe(
                            nothing -> {}, e -> fenceSignalled(ioQueue, open), () -> fenceSignalled(ioQueue, open)));
                }
            }
        }
        return fencesPending == 0;
    }

    /** An error of the fence itself means that there is nothing to wait for. */
    private static boolean isSignalled(DeviceFence fence) {
        try {
            return fence.isSignalled();
        } catch (RuntimeException e) {
            return true;
        }
    }

    private void fenceSignalled(IoQueue ioQueue, OpenTransfer open) {
        ioQueue.post(() -> {
            fencesPending--;
            ioQueue.proceed(open);
        });
    }
}
