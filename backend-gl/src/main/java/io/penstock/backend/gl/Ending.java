// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.gl;

import io.penstock.engine.spi.Wakeup;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Subscription;
import reactor.core.CoreSubscriber;
import reactor.core.Exceptions;

/** Wakes a thread when a publisher terminates. */
final class Ending<T> implements CoreSubscriber<T> {

    private final Wakeup wakeup;
    private @Nullable T last; // this and error: written before over
    private @Nullable Throwable error;
    private volatile boolean over;

    Ending(Wakeup wakeup) {
        this.wakeup = wakeup;
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
        wakeup.wake();
    }

    boolean isOver() {
        return over;
    }

    /** Returns the last value, or throws the publisher's error. */
    @Nullable
    T result() {
        if (error != null) {
            throw Exceptions.propagate(error);
        }
        return last;
    }
}
