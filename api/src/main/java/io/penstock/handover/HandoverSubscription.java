// SPDX-License-Identifier: Apache-2.0
package io.penstock.handover;

import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicIntegerFieldUpdater;
import org.reactivestreams.Subscription;
import reactor.core.CoreSubscriber;
import reactor.core.publisher.Operators;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;

/**
 * Delivers one closeable resource to a subscriber, on a scheduler, once it is here and requested.
 *
 * <p><b>Ownership:</b> the resource belongs to this subscription from {@link #succeed} until it is either passed to the
 * subscriber's {@code onNext} or discarded, at whatever time the cancel comes.
 *
 * <p><b>Threading:</b> all methods on any thread, any number of times. The first of {@link #succeed} and {@link #fail}
 * counts: a later resource is discarded, a later failure is ignored.
 */
public abstract class HandoverSubscription<T extends AutoCloseable> extends Handover<T>
        implements Subscription, Runnable {

    // Bits of state: the call that sets the second of the two delivers what is in the slot.
    private static final int REQUESTED = 1;
    private static final int ENDED = 2;

    @SuppressWarnings("rawtypes") // a class literal has no type arguments
    private static final AtomicIntegerFieldUpdater<HandoverSubscription> STATE =
            AtomicIntegerFieldUpdater.newUpdater(HandoverSubscription.class, "state");

    private final CoreSubscriber<? super T> actual;
    private final Scheduler delivery;

    @SuppressWarnings("unused") // through STATE
    private volatile int state;

    /**
     * Creates a subscription.
     *
     * @param delivery delivers: at once, if it is {@link Schedulers#immediate}
     */
    public HandoverSubscription(CoreSubscriber<? super T> actual, Scheduler delivery) {
        super(actual.currentContext());
        this.actual = actual;
        this.delivery = delivery;
    }

    /**
     * Stops the producer of the resource: the subscriber has cancelled before it was available. Called on the
     * cancelling thread.
     */
    protected abstract void stop();

    private int mark(int bits) {
        return STATE.getAndUpdate(this, before -> before | bits);
    }

    /** Takes ownership of the resource, and delivers it. */
    public final void succeed(T made) {
        if (arrive(made) && (mark(ENDED) & REQUESTED) != 0) {
            deliver();
        }
    }

    /** As {@link #succeed}, on a thread that may deliver it, since it is one of the scheduler's. */
    public final void succeedHere(T made) {
        if (arrive(made) && (mark(ENDED) & REQUESTED) != 0) {
            run();
        }
    }

    /** Ends without a resource; returns false if there is one. */
    @Override
    public final boolean fail(Throwable cause) {
        if (super.fail(cause)) {
            mark(ENDED | REQUESTED); // an error needs no demand
            deliver();
            return true;
        }
        if (isGivenUp()) {
            Operators.onErrorDropped(cause, currentContext());
        }
        return isGivenUp();
    }

    @Override
    public final void request(long n) {
        if (Operators.validate(n) && mark(REQUESTED) == ENDED) {
            deliver();
        }
    }

    @Override
    public final void cancel() {
        if (giveUp()) {
            stop(); // and succeed() discards a resource that comes later
            return;
        }
        T unwanted = take();
        if (unwanted != null) {
            drop(unwanted);
        } else {
            takeFailure();
        }
    }

    private void deliver() {
        if (delivery == Schedulers.immediate()) {
            run();
            return;
        }
        try {
            delivery.schedule(this);
        } catch (RejectedExecutionException e) {
            // The application has shut down its scheduler: a signal on the wrong thread is better than none.
            run();
        }
    }

    /** Delivers, unless a cancel has come first; on the delivery scheduler. */
    @Override
    public final void run() {
        T made = take();
        if (made != null) {
            actual.onNext(made);
            actual.onComplete();
            return;
        }
        Throwable failure = takeFailure();
        if (failure != null) {
            actual.onError(failure);
        }
    }
}
