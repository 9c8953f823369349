// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.publisher;

import io.penstock.engine.queue.Handover;
import io.penstock.engine.queue.Port;
import java.util.concurrent.Callable;
import java.util.concurrent.RejectedExecutionException;
import reactor.core.CoreSubscriber;
import reactor.core.Exceptions;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Operators;
import reactor.core.scheduler.Schedulers;

/**
 * Opens a closeable resource by a call that may block, on a thread that may block.
 *
 * <p><b>Cancellation:</b> a call that has not begun is not made; a resource that is returned after the cancel is
 * closed.
 */
public final class MonoOpen<T extends AutoCloseable> extends Mono<T> {

    private final Port port;
    private final Callable<? extends T> call;

    public MonoOpen(Port port, Callable<? extends T> call) {
        this.port = port;
        this.call = call;
    }

    @Override
    public void subscribe(CoreSubscriber<? super T> actual) {
        Opening<T> opening = new Opening<>(port, call, actual);
        actual.onSubscribe(opening);
        if (opening.isCancelled()) {
            return;
        }
        try {
            Schedulers.boundedElastic().schedule(opening::open);
        } catch (RejectedExecutionException e) {
            opening.fail(Operators.onRejectedExecution(e, actual.currentContext()));
        }
    }

    private static final class Opening<T extends AutoCloseable> extends Handover<T> {

        private final Callable<? extends T> call;

        Opening(Port port, Callable<? extends T> call, CoreSubscriber<? super T> actual) {
            super(port, actual);
            this.call = call;
        }

        private void open() {
            if (isCancelled()) {
                return;
            }
            T opened;
            try {
                opened = call.call();
            } catch (Throwable e) {
                Exceptions.throwIfJvmFatal(e);
                fail(e);
                return;
            }
            succeed(opened);
        }

        /** Does not interrupt the call: an interruption closes a file channel for all its users. */
        @Override
        protected void stop() {}
    }
}
