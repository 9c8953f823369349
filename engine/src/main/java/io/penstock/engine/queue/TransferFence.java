// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.queue;

import io.penstock.Completion;
import io.penstock.DeviceFence;
import io.penstock.Transfer;
import io.penstock.engine.order.FenceOrder;
import io.penstock.engine.spi.FencePoint;
import io.penstock.handover.HandoverSubscription;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

/**
 * A fence behind a transfer; signalled on failure too.
 *
 * <p>Without a point in the device's stream it is for the host to wait on, and available at once. With one it is
 * emitted when the point is placed.
 */
public final class TransferFence extends OpenTransfer implements DeviceFence {

    private final @Nullable FenceOrder order;
    private final HandoverSubscription<DeviceFence> handover;
    private final Sinks.One<Completion> outcome = Sinks.one();
    private final AtomicBoolean closed = new AtomicBoolean();
    private volatile boolean signalled;

    /**
     * Creates a fence.
     *
     * @param handover receives the fence when it is placed, or the failure if it never will be
     */
    public TransferFence(
            Port port, Transfer transfer, @Nullable FencePoint point, HandoverSubscription<DeviceFence> handover) {
        super(port, transfer);
        this.handover = handover;
        this.order = point == null ? null : new FenceOrder(point, true);
    }

    @Override
    public boolean isChecked() {
        return true;
    }

    @Override
    @Nullable
    public FenceOrder order() {
        return order;
    }

    @Override
    void placed() {
        handover.succeed(this);
    }

    @Override
    protected void ended() {
        signalled = true;
        Throwable error = error();
        // On the I/O queue, where engine code waits (Transfer.after); outcome() moves users to the scheduler.
        if (error == null) {
            outcome.emitValue(completion(), Sinks.EmitFailureHandler.FAIL_FAST);
            return;
        }
        outcome.emitError(error, Sinks.EmitFailureHandler.FAIL_FAST);
        // Refused or abandoned: a fence that is not placed yet never will be.
        if ((!isAdmitted() || isCancelled()) && handover.fail(error)) {
            close(); // it was not handed over
        }
    }

    @Override
    public boolean isSignalled() {
        return signalled;
    }

    /**
     * Evaluates a question while the native object is kept alive, if there is one: transfer and fence may have ended.
     */
    boolean test(Predicate<DeviceFence> question) {
        return order != null && order.test(() -> question.test(this));
    }

    /** Completes on the I/O queue; for engine code. */
    Mono<Void> signalledOnQueue() {
        return outcome.asMono().then().onErrorComplete();
    }

    @Override
    public Mono<Void> signalled() {
        return outcome().then().onErrorComplete();
    }

    @Override
    public Mono<Completion> outcome() {
        return port().deliver(outcome.asMono());
    }

    @Override
    public long nativeHandle() {
        return order == null ? 0 : order.point().nativeHandle();
    }

    /**
     * The transfer continues, and subscribers are still signalled; the native object is freed when the transfer has
     * ended.
     */
    @Override
    public void close() {
        if (order != null && closed.compareAndSet(false, true)) {
            order.release();
        }
    }
}
