// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine;

import io.penstock.Completion;
import io.penstock.DeviceFence;
import io.penstock.Transfer;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

/** A fence behind a transfer, for the host to wait on; signalled on failure too. */
final class TransferFence extends OpenTransfer implements DeviceFence {

    private final Port port;
    private final Sinks.One<Completion> outcome = Sinks.one();
    private volatile boolean signalled;

    TransferFence(Port port, Transfer transfer) {
        super(port, transfer);
        this.port = port;
    }

    @Override
    protected void ended() {
        signalled = true;
        Throwable error = error();
        // On the lane, where engine code waits (Transfer.after); users are moved to the scheduler by outcome().
        if (error == null) {
            outcome.emitValue(completion(), Sinks.EmitFailureHandler.FAIL_FAST);
        } else {
            outcome.emitError(error, Sinks.EmitFailureHandler.FAIL_FAST);
        }
    }

    @Override
    public boolean isSignalled() {
        return signalled;
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
        return 0;
    }

    /** Owns nothing native: the transfer goes on, and whoever waits is still told. */
    @Override
    public void close() {}
}
