// SPDX-License-Identifier: Apache-2.0
package io.penstock;

import java.util.Objects;
import java.util.concurrent.atomic.AtomicIntegerFieldUpdater;
import java.util.concurrent.atomic.AtomicReferenceFieldUpdater;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Subscription;
import reactor.core.CoreSubscriber;
import reactor.core.Exceptions;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Operators;
import reactor.util.context.Context;

/**
 * Opens a resource, runs a function's Mono with it, closes the resource, and then signals the result of that Mono.
 *
 * <p>As {@link Mono#usingWhen}, except that a resource which arrives while the subscriber cancels has an owner too:
 * arrival, termination and cancel compete in one atomic step, and the resource is closed exactly once.
 */
final class MonoWith<R extends AutoCloseable, T> extends Mono<T> {

    private final Mono<R> opening;
    private final Function<? super R, ? extends Mono<T>> use;

    private MonoWith(Mono<R> opening, Function<? super R, ? extends Mono<T>> use) {
        this.opening = opening;
        this.use = use;
    }

    static <R extends AutoCloseable, T> Mono<T> of(Mono<R> opening, Function<? super R, ? extends Mono<T>> use) {
        return onAssembly(new MonoWith<>(opening, Objects.requireNonNull(use, "use")));
    }

    @Override
    public void subscribe(CoreSubscriber<? super T> actual) {
        opening.subscribe(new Opening<>(actual, use));
    }

    /** Waits for the resource. */
    private static final class Opening<R extends AutoCloseable, T> implements CoreSubscriber<R>, Subscription {

        // OPENING -> CALLING -> USING -> OVER; a cancel goes to OVER from each. The thread that leaves USING closes the
        // resource, as does the thread that finds itself cancelled before USING.
        private static final int OPENING = 0;
        private static final int CALLING = 1; // the function
        private static final int USING = 2;
        private static final int OVER = 3;

        @SuppressWarnings("rawtypes") // a class literal has no type arguments
        private static final AtomicIntegerFieldUpdater<Opening> STATE =
                AtomicIntegerFieldUpdater.newUpdater(Opening.class, "state");

        private final CoreSubscriber<? super T> actual;
        private final Function<? super R, ? extends Mono<T>> function;
        private final Use<R, T> use = new Use<>(this);

        @SuppressWarnings("unused") // through STATE
        private volatile int state;

        private @Nullable Subscription upstream;
        private @Nullable R resource; // written before the state is USING, read by the thread that leaves USING

        Opening(CoreSubscriber<? super T> actual, Function<? super R, ? extends Mono<T>> function) {
            this.actual = actual;
            this.function = function;
        }

        @Override
        public void onSubscribe(Subscription s) {
            if (Operators.validate(upstream, s)) {
                upstream = s;
                actual.onSubscribe(this);
            }
        }

        @Override
        public void onNext(R opened) {
            if (!STATE.compareAndSet(this, OPENING, CALLING)) {
                discard(opened);
                return;
            }
            resource = opened;
            Mono<T> result;
            try {
                result = Objects.requireNonNull(function.apply(opened), "the function returned null");
            } catch (Throwable e) {
                result = Mono.error(thrown(e, opened));
            }
            if (!STATE.compareAndSet(this, CALLING, USING)) {
                discard(opened);
                return;
            }
            try {
                result.subscribe(use);
            } catch (Throwable e) {
                use.onError(thrown(e, opened));
            }
        }

        /**
         * Returns the error to signal. Reactor throws a LinkageError, such as that of a native library that is missing,
         * out of the delivering thread: the subscriber would get no signal, and the resource would stay open.
         */
        private Throwable thrown(Throwable e, R opened) {
            return Exceptions.isFatal(e) ? e : Operators.onOperatorError(null, e, opened, actual.currentContext());
        }

        @Override
        public void onError(Throwable cause) {
            if (STATE.compareAndSet(this, OPENING, OVER)) {
                actual.onError(cause);
            } else {
                Operators.onErrorDropped(cause, actual.currentContext());
            }
        }

        @Override
        public void onComplete() {
            if (STATE.compareAndSet(this, OPENING, OVER)) {
                actual.onComplete();
            }
        }

        /** Forwards the demand; the result of the use counts as requested from then on. */
        @Override
        public void request(long n) {
            Objects.requireNonNull(upstream).request(n);
        }

        @Override
        public void cancel() {
            int before = STATE.getAndSet(this, OVER);
            if (before == OPENING) {
                Objects.requireNonNull(upstream).cancel();
            } else if (before == USING) {
                use.cancel();
                discard(Objects.requireNonNull(resource));
            }
        }

        boolean isOver() {
            return state == OVER;
        }

        /** Ends the use, unless it was cancelled first; then signals. */
        private void end(@Nullable Throwable failure) {
            if (!STATE.compareAndSet(this, USING, OVER)) {
                use.discardValue();
                if (failure != null) {
                    Operators.onErrorDropped(failure, actual.currentContext());
                }
                return;
            }
            Throwable cause = failure;
            try {
                Objects.requireNonNull(resource).close();
            } catch (Throwable e) { // one that is thrown would end nothing
                if (cause == null) {
                    cause = e;
                } else if (cause != e) {
                    cause.addSuppressed(e);
                }
            }
            if (cause != null) {
                use.discardValue();
                actual.onError(cause);
                return;
            }
            T value = use.takeValue();
            if (value != null) {
                actual.onNext(value);
            }
            actual.onComplete();
        }

        private void discard(R unwanted) {
            try {
                unwanted.close();
            } catch (Throwable e) {
                Operators.onErrorDropped(e, actual.currentContext());
            }
        }

        @Override
        public Context currentContext() {
            return actual.currentContext();
        }
    }

    /** What the function returned. */
    private static final class Use<R extends AutoCloseable, T> implements CoreSubscriber<T> {

        @SuppressWarnings("rawtypes") // a class literal has no type arguments
        private static final AtomicReferenceFieldUpdater<Use, Subscription> UPSTREAM =
                AtomicReferenceFieldUpdater.newUpdater(Use.class, Subscription.class, "upstream");

        @SuppressWarnings("rawtypes")
        private static final AtomicReferenceFieldUpdater<Use, Object> VALUE =
                AtomicReferenceFieldUpdater.newUpdater(Use.class, Object.class, "value");

        private final Opening<R, T> opening;

        @SuppressWarnings("unused") // through UPSTREAM
        private volatile @Nullable Subscription upstream;

        // A T, kept until the resource is closed. onNext() writes it and then checks whether the use is over; a cancel
        // does the reverse. One of the two discards it.
        @SuppressWarnings("unused") // through VALUE
        private volatile @Nullable Object value;

        Use(Opening<R, T> opening) {
            this.opening = opening;
        }

        void cancel() {
            Operators.terminate(UPSTREAM, this);
            discardValue();
        }

        @SuppressWarnings("unchecked") // onNext() put it there
        @Nullable
        T takeValue() {
            return (T) VALUE.getAndSet(this, null);
        }

        void discardValue() {
            Operators.onDiscard(takeValue(), currentContext());
        }

        @Override
        public void onSubscribe(Subscription s) {
            if (Operators.setOnce(UPSTREAM, this, s)) {
                s.request(Long.MAX_VALUE);
            }
        }

        @Override
        public void onNext(T result) {
            value = result;
            if (opening.isOver()) {
                discardValue();
            }
        }

        @Override
        public void onError(Throwable cause) {
            opening.end(cause);
        }

        @Override
        public void onComplete() {
            opening.end(null);
        }

        @Override
        public Context currentContext() {
            return opening.currentContext();
        }
    }
}
