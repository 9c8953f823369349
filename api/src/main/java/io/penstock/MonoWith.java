// SPDX-License-Identifier: Apache-2.0
package io.penstock;

import io.penstock.handover.Handover;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicReferenceFieldUpdater;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Subscription;
import reactor.core.CoreSubscriber;
import reactor.core.Exceptions;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Operators;
import reactor.util.Logger;
import reactor.util.Loggers;
import reactor.util.context.Context;

/**
 * Opens a resource, runs a function's Mono with it, closes the resource, and then signals the result of that Mono.
 *
 * <p>As {@link Mono#usingWhen}, except that a resource which arrives while the subscriber cancels has an owner too, the
 * {@link Handover}, and is closed exactly once.
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

    /** Waits for the resource and owns it while it is used. The thread that takes it from here closes it. */
    private static final class Opening<R extends AutoCloseable, T> extends Handover<R>
            implements CoreSubscriber<R>, Subscription {

        private static final Logger LOG = Loggers.getLogger(MonoWith.class);

        private final CoreSubscriber<? super T> actual;
        private final Function<? super R, ? extends Mono<T>> function;
        private final Context context; // of the use
        private final Use<R, T> use = new Use<>(this);

        private @Nullable Subscription upstream;

        Opening(CoreSubscriber<? super T> actual, Function<? super R, ? extends Mono<T>> function) {
            super(actual.currentContext());
            this.actual = actual;
            this.context = closedDebugged(actual.currentContext());
            this.function = function;
        }

        // What the use drops because a cancel has closed its resource is logged at level DEBUG. Written here, since
        // packages have no cycle.
        private static Context closedDebugged(Context context) {
            return context.put("reactor.onErrorDropped.local", (Consumer<Throwable>) e -> {
                if (Exceptions.unwrap(e) instanceof ClosedException) {
                    LOG.debug("an error after the end", e);
                } else {
                    Operators.onErrorDropped(e, context);
                }
            });
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
            if (!isPending()) {
                drop(opened);
                return;
            }
            Mono<T> result;
            try {
                result = Objects.requireNonNull(function.apply(opened), "the function returned null");
            } catch (Throwable e) {
                result = Mono.error(thrown(e, opened));
            }
            if (!arrive(opened)) { // only now: the function has it to itself, also if the cancel comes meanwhile
                return;
            }
            try {
                result.subscribe(use);
            } catch (Throwable e) {
                use.onError(thrown(e, opened));
            }
        }

        /**
         * Returns the error to signal. Reactor throws a LinkageError, as where a native library is missing,
         * out of the delivering thread: the subscriber would get no signal, and the resource would stay open.
         */
        private Throwable thrown(Throwable e, R opened) {
            return Exceptions.isFatal(e) ? e : Operators.onOperatorError(null, e, opened, currentContext());
        }

        @Override
        public void onError(Throwable cause) {
            if (fail(cause)) {
                actual.onError(cause);
            } else {
                Operators.onErrorDropped(cause, currentContext());
            }
        }

        @Override
        public void onComplete() {
            if (giveUp()) {
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
            if (giveUp()) {
                Objects.requireNonNull(upstream).cancel();
                return;
            }
            R unwanted = take();
            if (unwanted != null) {
                use.cancel();
                drop(unwanted);
            }
        }

        boolean isOver() {
            return resource() == null;
        }

        /** Ends the use, unless it was cancelled first; then signals. */
        private void end(@Nullable Throwable failure) {
            R used = take();
            if (used == null) {
                use.discardValue();
                if (failure != null) {
                    Operators.onErrorDropped(failure, context);
                }
                return;
            }
            Throwable cause = failure;
            try {
                used.close();
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
            try {
                Operators.terminate(UPSTREAM, this);
            } catch (Throwable e) { // of the function's publisher: the resource must still be closed
                Operators.onErrorDropped(e, currentContext());
            }
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
            return opening.context;
        }
    }
}
