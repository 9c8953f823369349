// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.nvme;

import io.penstock.BackendUnavailableException;
import io.penstock.Failure;
import io.penstock.TransientStorageException;
import io.penstock.backend.nvme.controller.ControllerException;
import java.io.IOException;
import java.util.concurrent.Callable;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicReference;
import org.reactivestreams.Subscription;
import reactor.core.CoreSubscriber;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Operators;
import reactor.core.scheduler.Schedulers;

/**
 * Opens a handle of a controller, on a thread that may block, at the first request.
 *
 * <p><b>Ownership:</b> delivery and cancel compete for the handle in one atomic step: it is passed to {@code onNext} or
 * closed. {@code Mono.create} does not do this: a value that meets a cancel is dropped without a hook of its own.
 */
final class HandleOpening<T extends AutoCloseable> extends Mono<T> {

    private final Callable<? extends T> call;

    HandleOpening(Callable<? extends T> call) {
        this.call = call;
    }

    @Override
    public void subscribe(CoreSubscriber<? super T> actual) {
        actual.onSubscribe(new Opening<>(call, actual));
    }

    private static final class Opening<T extends AutoCloseable> implements Subscription {

        private enum State {
            IDLE,
            OPENING,
            OVER
        }

        private final Callable<? extends T> call;
        private final CoreSubscriber<? super T> actual;
        private final AtomicReference<State> state = new AtomicReference<>(State.IDLE);

        Opening(Callable<? extends T> call, CoreSubscriber<? super T> actual) {
            this.call = call;
            this.actual = actual;
        }

        @Override
        public void request(long n) {
            if (Operators.validate(n) && state.compareAndSet(State.IDLE, State.OPENING)) {
                try {
                    Schedulers.boundedElastic().schedule(this::open);
                } catch (RejectedExecutionException e) {
                    fail(e);
                }
            }
        }

        @Override
        public void cancel() {
            state.set(State.OVER);
        }

        private void open() {
            if (state.get() == State.OVER) {
                return;
            }
            T opened;
            try {
                opened = call.call();
            } catch (Throwable e) { // one that is thrown would end nothing
                fail(failure(e));
                return;
            }
            if (state.compareAndSet(State.OPENING, State.OVER)) {
                actual.onNext(opened);
                actual.onComplete();
            } else {
                close(opened);
            }
        }

        private void close(T unwanted) {
            try {
                unwanted.close();
            } catch (Throwable e) {
                Operators.onErrorDropped(e, actual.currentContext());
            }
        }

        private static Throwable failure(Throwable cause) {
            if (cause instanceof ControllerException refused) {
                return refused.failure().exception("opening of a queue pair");
            }
            if (cause instanceof IOException || cause instanceof LinkageError) {
                return new BackendUnavailableException(
                        "the controller cannot be opened: " + cause.getMessage(), Failure.NOT_STARTED, cause);
            }
            if (cause instanceof OutOfMemoryError) {
                return new TransientStorageException(
                        "no thread or memory for a queue pair: " + cause.getMessage(), Failure.NOT_STARTED, cause);
            }
            return cause;
        }

        private void fail(Throwable cause) {
            if (state.compareAndSet(State.OPENING, State.OVER)) {
                actual.onError(cause);
            } else {
                Operators.onErrorDropped(cause, actual.currentContext());
            }
        }
    }
}
