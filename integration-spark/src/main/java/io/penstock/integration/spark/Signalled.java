// SPDX-License-Identifier: Apache-2.0
package io.penstock.integration.spark;

import java.util.Objects;
import java.util.function.Supplier;
import org.reactivestreams.Publisher;
import org.reactivestreams.Subscription;
import reactor.core.CoreSubscriber;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Operators;
import reactor.util.context.Context;

/**
 * What a function returns, or throws, as signals: also the errors that Reactor throws through the thread which delivers,
 * those of linking and of the JVM. A task would wait for their signal without end, for example where an executor lacks
 * the native library of a kernel.
 */
final class Signalled<T> extends Flux<T> {

    private final Supplier<Publisher<T>> function;

    Signalled(Supplier<Publisher<T>> function) {
        this.function = function;
    }

    @Override
    public void subscribe(CoreSubscriber<? super T> actual) {
        Use<T> use = new Use<>(actual);
        try {
            Objects.requireNonNull(function.get(), "the function returned null for a chunk")
                    .subscribe(use);
        } catch (Throwable e) {
            use.failed(e);
        }
    }

    /** Passes signals through. The publisher may throw when it is subscribed to and when rows are requested of it. */
    private static final class Use<T> implements CoreSubscriber<T>, Subscription {

        private final CoreSubscriber<? super T> actual;
        private volatile Subscription upstream = Operators.emptySubscription();
        private volatile boolean started;

        Use(CoreSubscriber<? super T> actual) {
            this.actual = actual;
        }

        void failed(Throwable cause) {
            upstream.cancel();
            if (started) {
                actual.onError(cause);
            } else {
                Operators.error(actual, cause);
            }
        }

        @Override
        public void onSubscribe(Subscription s) {
            if (Operators.validate(started ? upstream : null, s)) {
                upstream = s;
                started = true;
                actual.onSubscribe(this);
            }
        }

        @Override
        public void onNext(T row) {
            actual.onNext(row);
        }

        @Override
        public void onError(Throwable cause) {
            actual.onError(cause);
        }

        @Override
        public void onComplete() {
            actual.onComplete();
        }

        @Override
        public void request(long rows) {
            try {
                upstream.request(rows);
            } catch (LinkageError | VirtualMachineError e) {
                failed(e);
            }
        }

        @Override
        public void cancel() {
            upstream.cancel();
        }

        @Override
        public Context currentContext() {
            return actual.currentContext();
        }
    }
}
