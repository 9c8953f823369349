// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.gl;

import io.penstock.engine.spi.staging.Doorbell;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Subscription;
import reactor.core.CoreSubscriber;
import reactor.core.Exceptions;

/** Waits for the end of a publisher, and rings then. */
final class Ending<T> implements CoreSubscriber<T> {

    private final Doorbell bell;
    private @Nullable T last; // this and error: written before over
    private @Nullable Throwable error;
    private volatile boolean over;

    Ending(Doorbell bell) {
        this.bell = bell;
    }

    @Override
    public void onSubscribe(Subscription subscription) {
        subscription.request(Long.MAX_VALUE);
    }

    @Override
    public void onNext(T value) {
        last = value;
    }

    @Override
    public void onError(Throwable cause) {
        error = cause;
        end();
    }

    @Override
    public void onComplete() {
        end();
    }

    private void end() {
        over = true;
        bell.ring();
    }

    boolean isOver() {
        return over;
    }

    /** Returns the last value, or throws what it failed with. */
    @Nullable
    T result() {
        if (error != null) {
            throw Exceptions.propagate(error);
        }
        return last;
    }
}
