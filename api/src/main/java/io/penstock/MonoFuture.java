// SPDX-License-Identifier: Apache-2.0
package io.penstock;

import io.penstock.handover.Handover;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicReferenceFieldUpdater;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Subscription;
import reactor.core.CoreSubscriber;
import reactor.core.publisher.Operators;

/**
 * The result of a Mono as a future. Value and cancel compete for the future's result, which is set once, as for a
 * {@link Handover}: a value that comes second is closed, if it can be.
 */
final class MonoFuture<T> extends CompletableFuture<@Nullable T> implements CoreSubscriber<T> {

    @SuppressWarnings("rawtypes") // a class literal has no type arguments
    private static final AtomicReferenceFieldUpdater<MonoFuture, Subscription> UPSTREAM =
            AtomicReferenceFieldUpdater.newUpdater(MonoFuture.class, Subscription.class, "upstream");

    @SuppressWarnings("unused") // through UPSTREAM
    private volatile @Nullable Subscription upstream;

    @Override
    public void onSubscribe(Subscription s) {
        if (Operators.setOnce(UPSTREAM, this, s)) {
            s.request(Long.MAX_VALUE);
        }
    }

    @Override
    public void onNext(T value) {
        if (complete(value)) {
            return;
        }
        if (value instanceof AutoCloseable resource) {
            Handover.drop(resource, currentContext());
        }
        Operators.onDiscard(value, currentContext());
    }

    @Override
    public void onError(Throwable cause) {
        if (!completeExceptionally(cause)) {
            Operators.onErrorDropped(cause, currentContext());
        }
    }

    @Override
    public void onComplete() {
        complete(null);
    }

    @Override
    public boolean cancel(boolean mayInterruptIfRunning) {
        boolean cancelled = super.cancel(mayInterruptIfRunning);
        if (cancelled) {
            Operators.terminate(UPSTREAM, this);
        }
        return cancelled;
    }

    /** Futures that stages of this one return are ordinary: they do not subscribe. */
    @Override
    public <U> CompletableFuture<U> newIncompleteFuture() {
        return new CompletableFuture<>();
    }
}
