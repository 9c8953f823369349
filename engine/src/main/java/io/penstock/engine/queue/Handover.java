// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.queue;

import io.penstock.CommonOptions;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Objects;
import java.util.concurrent.RejectedExecutionException;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Subscription;
import reactor.core.CoreSubscriber;
import reactor.core.publisher.Operators;

/**
 * Delivers one closeable resource to a subscriber, on the delivery scheduler.
 *
 * <p><b>Ownership:</b> the resource belongs to this subscription from {@link #succeed} until it is either passed to the
 * subscriber's {@code onNext} or closed. Delivery and cancellation compete for it in one atomic step, so exactly one of
 * the two happens, at whatever time the cancel comes. Reactor's {@code publishOn} does not do this: it drops a value
 * that is cancelled between two threads.
 *
 * <p><b>Threading:</b> all methods on any thread, any number of times. The first of {@link #succeed} and {@link #fail}
 * counts: a later resource is closed, a later failure is ignored.
 */
public abstract class Handover<T extends AutoCloseable> implements Subscription, Runnable {

    // Bits of state. Each event sets its bit and reads from the previous value which events came before it: the last of
    // ENDED and REQUESTED schedules the delivery; the first of CANCELLED and TAKEN owns the resource.
    private static final int REQUESTED = 1;
    private static final int ENDED = 2;
    private static final int CANCELLED = 4;
    private static final int TAKEN = 8; // by the delivery
    private static final VarHandle STATE;
    private static final VarHandle RESULT;

    static {
        try {
            MethodHandles.Lookup lookup = MethodHandles.lookup();
            STATE = lookup.findVarHandle(Handover.class, "state", int.class);
            RESULT = lookup.findVarHandle(Handover.class, "result", Object.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private final Port port;
    private final CoreSubscriber<? super T> actual;

    @SuppressWarnings("unused") // through STATE
    private volatile int state;

    // The resource, or a Throwable. Set once, before ENDED is; read by threads that have seen ENDED.
    private volatile @Nullable Object result;

    public Handover(Port port, CoreSubscriber<? super T> actual) {
        this.port = port;
        this.actual = actual;
    }

    /**
     * Stops the producer of the resource: the subscriber has cancelled before it was available. Called on the
     * cancelling thread.
     */
    protected abstract void stop();

    /** Disposes of a resource that the subscriber does not get. */
    protected void discard(T unwanted) throws Exception {
        unwanted.close();
    }

    /** Returns true if the subscriber has cancelled. */
    public final boolean isCancelled() {
        return ((int) STATE.getVolatile(this) & CANCELLED) != 0;
    }

    /** Takes ownership of the resource, and delivers it according to {@link CommonOptions#DELIVERY}. */
    public final void succeed(T made) {
        succeed(made, port.isDirectDelivery());
    }

    /**
     * Takes ownership of the resource.
     *
     * @param here whether the calling thread may deliver it, as a thread of the delivery scheduler
     */
    public final void succeed(T made, boolean here) {
        if (!RESULT.compareAndSet(this, null, made)) {
            drop(made);
            return;
        }
        int before = (int) STATE.getAndBitwiseOr(this, ENDED);
        if ((before & CANCELLED) != 0) {
            drop(made);
        } else if ((before & REQUESTED) != 0) {
            deliver(here);
        }
    }

    /** Ends without a resource; returns false if there is one. */
    public final boolean fail(Throwable cause) {
        if (!RESULT.compareAndSet(this, null, cause)) {
            return false;
        }
        // An error needs no demand.
        int before = (int) STATE.getAndBitwiseOr(this, ENDED | REQUESTED);
        if ((before & CANCELLED) != 0) {
            Operators.onErrorDropped(cause, actual.currentContext());
        } else {
            deliver(port.isDirectDelivery());
        }
        return true;
    }

    @Override
    public final void request(long n) {
        if (Operators.validate(n) && (int) STATE.getAndBitwiseOr(this, REQUESTED) == ENDED) {
            deliver(port.isDirectDelivery());
        }
    }

    @Override
    public final void cancel() {
        int before = (int) STATE.getAndBitwiseOr(this, CANCELLED);
        if ((before & (CANCELLED | TAKEN)) != 0) {
            return; // the second cancel, or one after the delivery
        }
        if ((before & ENDED) == 0) {
            stop(); // and succeed() disposes of a resource that comes later
        } else if (!(result instanceof Throwable)) {
            drop(resource());
        }
    }

    @SuppressWarnings("unchecked") // what is not a Throwable was given to succeed()
    private T resource() {
        return (T) Objects.requireNonNull(result);
    }

    private void deliver(boolean here) {
        if (here) {
            run();
            return;
        }
        try {
            port.scheduler().schedule(this);
        } catch (RejectedExecutionException e) {
            // The application has shut down its scheduler: a signal on the wrong thread is better than none.
            run();
        }
    }

    /** Delivers; on the delivery scheduler. */
    @Override
    public final void run() {
        int before = (int) STATE.getAndBitwiseOr(this, TAKEN);
        if ((before & CANCELLED) != 0) {
            return; // cancel() has disposed of it
        }
        if (result instanceof Throwable failure) {
            actual.onError(failure);
        } else {
            actual.onNext(resource());
            actual.onComplete();
        }
    }

    private void drop(T unwanted) {
        try {
            discard(unwanted);
        } catch (Exception e) {
            Operators.onErrorDropped(
                    new IllegalStateException("closing " + unwanted + " after a cancel failed", e),
                    actual.currentContext());
        }
    }
}
