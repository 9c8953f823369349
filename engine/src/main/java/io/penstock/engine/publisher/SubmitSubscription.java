// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.publisher;

import io.penstock.Completion;
import io.penstock.SubmitOptions;
import io.penstock.SubmitOptions.Errors;
import io.penstock.Transfer;
import io.penstock.engine.kit.Pause;
import io.penstock.engine.queue.DeliveryLoop;
import io.penstock.engine.queue.IoQueue;
import io.penstock.engine.queue.Port;
import java.util.Objects;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicIntegerFieldUpdater;
import java.util.concurrent.atomic.AtomicLongFieldUpdater;
import java.util.concurrent.atomic.AtomicReferenceFieldUpdater;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Publisher;
import org.reactivestreams.Subscription;
import reactor.core.CoreSubscriber;
import reactor.core.Exceptions;
import reactor.core.Scannable;
import reactor.core.publisher.Operators;
import reactor.core.scheduler.Scheduler;
import reactor.util.context.Context;

/**
 * One subscription of a {@link FluxSubmit}.
 *
 * <p><b>Threading:</b> the publisher's signals open transfers, I/O queues add arrivals, turns deliver. In direct mode a
 * turn runs on the I/O queue, and so does the publisher's {@code onNext}: the next transfers open without a thread hop.
 */
final class SubmitSubscription extends DeliveryLoop implements CoreSubscriber<Transfer>, Subscription, Scannable {

    /** More in flight than this does not increase throughput, and its arrays would take memory. */
    private static final int MOST_IN_FLIGHT = 1 << 16;

    private static final int MOST_HERE = 256;

    private static final AtomicLongFieldUpdater<SubmitSubscription> REQUESTED =
            AtomicLongFieldUpdater.newUpdater(SubmitSubscription.class, "requested");
    private static final AtomicIntegerFieldUpdater<SubmitSubscription> STOPPED =
            AtomicIntegerFieldUpdater.newUpdater(SubmitSubscription.class, "stopped");
    private static final AtomicReferenceFieldUpdater<SubmitSubscription, Throwable> ABORT =
            AtomicReferenceFieldUpdater.newUpdater(SubmitSubscription.class, Throwable.class, "abort");

    private final Port port;
    private final Errors errors;
    private final CoreSubscriber<? super Completion> actual;
    private final boolean mayEndHere;
    private final int capacity;
    private final int batch;
    private final SubmitWindow window;
    private final SubmitArrivals arrivals;

    private volatile long requested;

    // 0 -> 1 by the cancel, or by the turn that emits the terminal signal: the first one wins (rule 101).
    private volatile int stopped;

    // The error that ends it when nothing more can be delivered: the first failure under STOP, or a violated rule.
    private volatile @Nullable Throwable abort;

    // Publisher's signals only, until upstreamDone publishes them to the turns.
    private Subscription upstream = Operators.emptySubscription();
    private int opened;
    private int here; // that might have ended where they were opened, since one might not
    private @Nullable Throwable upstreamError;
    private volatile boolean upstreamDone;

    // Turns only.
    private int settled;
    private int unasked;
    private final DelayedErrors delayed = new DelayedErrors();

    SubmitSubscription(
            Port port,
            SubmitOptions options,
            CoreSubscriber<? super Completion> actual,
            Scheduler.@Nullable Worker worker) {
        super(worker);
        this.port = port;
        this.errors = options.errors();
        this.actual = actual;
        this.mayEndHere = worker != null && options.inFlight() <= Pause.FEW;
        this.capacity = Math.min(options.inFlight(), MOST_IN_FLIGHT);
        this.batch = Math.max(1, capacity >> 2);
        this.window = new SubmitWindow(capacity);
        this.arrivals = new SubmitArrivals(capacity, options.inOrder());
    }

    @Override
    public void onSubscribe(Subscription s) {
        if (Operators.validate(upstream == Operators.emptySubscription() ? null : upstream, s)) {
            upstream = s;
            actual.onSubscribe(this);
            request(s, capacity);
        }
    }

    @Override
    public void onNext(Transfer transfer) {
        Objects.requireNonNull(transfer, "transfer");
        if (upstreamDone) {
            Operators.onNextDropped(transfer, currentContext());
            return;
        }
        if (stopped != 0) {
            return;
        }
        int place = window.take();
        if (place < 0) {
            ABORT.compareAndSet(this, null, Exceptions.failWithOverflow("the publisher sent more than was requested"));
            signal();
            return;
        }
        open(transfer, place, opened++);
    }

    /**
     * Returns whether the next one may end where it is opened. Now and then none may, so that a thread which finds all
     * of them in the page cache returns.
     */
    boolean mayEndHere() {
        if (mayEndHere) {
            here = here < MOST_HERE ? here + 1 : 0;
        }
        return here > 0;
    }

    private void open(Transfer transfer, int place, int number) {
        SubmittedTransfer open = new SubmittedTransfer(port, transfer, this, place, number);
        open.open();
        window.put(place, open);
        if (stopped != 0) { // after put, see SubmitWindow.put
            open.cancel();
        }
    }

    @Override
    public void onError(Throwable cause) {
        Objects.requireNonNull(cause, "cause");
        if (upstreamDone || stopped != 0) {
            Operators.onErrorDropped(cause, currentContext());
            return;
        }
        upstreamError = cause;
        upstreamDone = true;
        signal();
    }

    @Override
    public void onComplete() {
        upstreamDone = true;
        signal();
    }

    /**
     * Adds a transfer that has ended; called on its I/O queue, by several I/O queues concurrently.
     *
     * @param turning the I/O queue in whose turn it ended, which then signals all arrivals of the turn at once; null
     *     outside a turn
     */
    void arrived(SubmittedTransfer arrival, @Nullable IoQueue turning) {
        if (stopped != 0) {
            return;
        }
        if (errors == Errors.STOP && arrival.error() != null) {
            ABORT.compareAndSet(this, null, arrival.error()); // at once, even if earlier ones lack demand
        }
        arrivals.add(arrival);
        if (turning == null) {
            signal();
        } else {
            turning.signalLater(this);
        }
    }

    @Override
    public void request(long n) {
        if (n > 0) {
            Operators.addCap(REQUESTED, this, n);
        } else {
            ABORT.compareAndSet(
                    this, null, new IllegalArgumentException("request of " + n + " (Reactive Streams 3.9)"));
        }
        signal();
    }

    @Override
    public void cancel() {
        if (STOPPED.compareAndSet(this, 0, 1)) {
            halt();
            signalHere();
        }
    }

    private void halt() {
        try {
            upstream.cancel();
        } catch (Throwable e) { // which must not keep the terminal signal back
            Operators.onErrorDropped(e, currentContext());
        }
        window.cancelAll();
    }

    @Override
    protected void turn() {
        long delivered = 0;
        while (stopped == 0) {
            boolean last = upstreamDone; // read before the arrivals: "opened" is final then, and none can be missed
            SubmittedTransfer head = arrivals.head();
            if (head == null) {
                if (!abortIfDue() && last && settled == opened) {
                    complete();
                }
                break;
            }
            Throwable failure = head.error();
            if (failure != null && errors == Errors.STOP) {
                abort(failure);
            } else if (failure != null && errors == Errors.DELAY) {
                delayed.add(failure);
                settle(head);
            } else if (delivered < requested) {
                delivered++;
                actual.onNext(head.value());
                settle(head);
            } else {
                abortIfDue();
                break;
            }
        }
        if (delivered != 0) {
            Operators.produced(REQUESTED, this, delivered);
        }
        if (stopped != 0) {
            arrivals.clear();
            over();
        } else if (unasked != 0) {
            ask();
        }
    }

    /** Frees the place of a delivered transfer; many that end in one turn request the next ones in batches. */
    private void settle(SubmittedTransfer head) {
        arrivals.removeHead();
        window.give(head.place());
        settled++;
        if (++unasked == batch) {
            ask();
        }
    }

    /**
     * Requests as many transfers as were delivered: the rest of a window would otherwise stay empty until the next
     * turn.
     */
    private void ask() {
        int next = unasked;
        unasked = 0;
        request(upstream, next);
    }

    /**
     * Reactor throws what is fatal to it, such as a LinkageError, out of this call: the subscriber would get no signal.
     */
    private void request(Subscription publisher, int count) {
        try {
            publisher.request(count);
        } catch (Throwable e) {
            onError(e);
        }
    }

    /** Subscribes to the publisher; what that throws is signalled. */
    void subscribeTo(Publisher<Transfer> transfers) {
        try {
            transfers.subscribe(this);
        } catch (Throwable e) {
            if (upstream == Operators.emptySubscription()) {
                actual.onSubscribe(this);
            }
            onError(e);
        }
    }

    private boolean abortIfDue() {
        Throwable cause = abort;
        if (cause != null) {
            abort(cause);
        }
        return cause != null;
    }

    private void abort(Throwable cause) {
        if (STOPPED.compareAndSet(this, 0, 1)) {
            halt();
            actual.onError(cause);
        }
    }

    private void complete() {
        if (upstreamError != null) {
            delayed.addLast(upstreamError);
        }
        Throwable cause = delayed.first();
        if (!STOPPED.compareAndSet(this, 0, 1)) {
            return;
        }
        if (cause == null) {
            actual.onComplete();
        } else {
            actual.onError(cause);
        }
    }

    @Override
    protected void rejected(RejectedExecutionException cause) {
        if (stopped == 0) {
            abort(Operators.onRejectedExecution(cause, currentContext()));
        }
    }

    @Override
    protected void crashed(Throwable cause) {
        cancel();
        Operators.onErrorDropped(cause, currentContext());
    }

    @Override
    public Context currentContext() {
        return actual.currentContext();
    }

    @Override
    @SuppressWarnings("rawtypes") // as declared by Scannable
    public @Nullable Object scanUnsafe(Attr key) {
        if (key == Attr.PARENT) {
            return upstream;
        }
        if (key == Attr.ACTUAL) {
            return actual;
        }
        if (key == Attr.REQUESTED_FROM_DOWNSTREAM) {
            return requested;
        }
        return key == Attr.PREFETCH ? capacity : key == Attr.TERMINATED ? stopped != 0 : null;
    }
}
