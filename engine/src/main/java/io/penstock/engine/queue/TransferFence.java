// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.queue;

import io.penstock.Completion;
import io.penstock.DeviceFence;
import io.penstock.Transfer;
import io.penstock.engine.order.FenceOrder;
import io.penstock.engine.spi.FencePoint;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

/**
 * A fence behind a transfer; signalled on failure too.
 *
 * <p>Without a point in the device's order it is for the host to wait on, and there at once. With one it is handed out
 * when the point is placed.
 */
public final class TransferFence extends OpenTransfer implements DeviceFence {

    private final Port port;
    private final @Nullable FenceOrder order;
    private final Handover<DeviceFence> handover;
    private final Sinks.One<Completion> outcome = Sinks.one();
    private final AtomicBoolean closed = new AtomicBoolean();
    private volatile boolean signalled;

    /**
     * Makes one.
     *
     * @param handover gets the fence when it is placed, or the reason why it never will be
     */
    public TransferFence(Port port, Transfer transfer, @Nullable FencePoint point, Handover<DeviceFence> handover) {
        super(port, transfer);
        this.port = port;
        this.handover = handover;
        this.order = point == null ? null : new FenceOrder(point, true);
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
        // On the lane, where engine code waits (Transfer.after); users are moved to the scheduler by outcome().
        if (error == null) {
            outcome.emitValue(completion(), Sinks.EmitFailureHandler.FAIL_FAST);
            return;
        }
        outcome.emitError(error, Sinks.EmitFailureHandler.FAIL_FAST);
        // Refused or abandoned: if it is not placed yet it never will be.
        if (!isAdmitted() || isCancelled()) {
            handover.fail(error);
        }
    }

    @Override
    public boolean isSignalled() {
        return signalled;
    }

    /** Asks a question while the native object stays, if there is one: transfer and fence may be over. */
    boolean ask(Predicate<DeviceFence> question) {
        return order != null && order.ask(() -> question.test(this));
    }

    /** Completes on the lane; for engine code. */
    Mono<Void> passed() {
        return outcome.asMono().then().onErrorComplete();
    }

    @Override
    public Mono<Void> signalled() {
        return outcome().then().onErrorComplete();
    }

    @Override
    public Mono<Completion> outcome() {
        Mono<Completion> end = outcome.asMono();
        return port.isDirectDelivery() ? end : end.publishOn(port.scheduler());
    }

    @Override
    public long nativeHandle() {
        return order == null ? 0 : order.point().nativeHandle();
    }

    /** The transfer continues, and subscribers are still signalled; the native object is freed when the transfer has ended. */
    @Override
    public void close() {
        if (order != null && closed.compareAndSet(false, true)) {
            order.letGo();
        }
    }
}
