// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.publisher;

import io.penstock.DeviceFence;
import io.penstock.Transfer;
import io.penstock.engine.queue.Port;
import io.penstock.engine.queue.TransferFence;
import io.penstock.handover.HandoverSubscription;
import java.util.concurrent.RejectedExecutionException;
import org.jspecify.annotations.Nullable;
import reactor.core.CoreSubscriber;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Operators;

/** Opens a transfer and emits the fence behind it, once other work may wait on it. */
public final class MonoEnqueue extends Mono<DeviceFence> {

    private final Port port;
    private final Transfer transfer;

    public MonoEnqueue(Port port, Transfer transfer) {
        this.port = port;
        this.transfer = transfer;
    }

    @Override
    public void subscribe(CoreSubscriber<? super DeviceFence> actual) {
        Enqueued enqueued = new Enqueued(port, transfer, actual);
        actual.onSubscribe(enqueued);
        if (enqueued.isGivenUp()) {
            return;
        }
        try {
            // Always on the scheduler: nothing completes inside subscribe.
            port.scheduler().schedule(enqueued::open);
        } catch (RejectedExecutionException e) {
            enqueued.fail(Operators.onRejectedExecution(e, actual.currentContext()));
        }
    }

    /** One subscription; owns the fence until it is delivered. */
    private static final class Enqueued extends HandoverSubscription<DeviceFence> {

        private final Port port;
        private final Transfer transfer;

        // open() writes it and then reads the cancelled state, a cancel does the reverse: one of the two stops it.
        private volatile @Nullable TransferFence fence;

        Enqueued(Port port, Transfer transfer, CoreSubscriber<? super DeviceFence> actual) {
            super(actual, port.delivery());
            this.port = port;
            this.transfer = transfer;
        }

        private void open() {
            if (isGivenUp()) {
                return;
            }
            TransferFence behind;
            try {
                behind = new TransferFence(port, transfer, port.driver().fencePoint(transfer, true), this);
            } catch (Throwable e) { // also a vendor's library that lacks a function
                fail(e);
                return;
            }
            fence = behind;
            behind.open();
            if (behind.isAdmitted() && behind.order() == null) {
                succeedHere(behind); // for the host to wait on: available at once
            }
            if (isGivenUp()) {
                stop();
            }
        }

        @Override
        protected void stop() {
            TransferFence unwanted = fence;
            if (unwanted != null) {
                discard(unwanted);
            }
        }

        /** Also cancels the transfer on the device. */
        @Override
        protected void discard(DeviceFence unwanted) {
            ((TransferFence) unwanted).cancel();
            unwanted.close();
        }
    }
}
