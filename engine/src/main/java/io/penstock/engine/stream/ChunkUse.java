// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.stream;

import java.util.concurrent.atomic.AtomicReferenceFieldUpdater;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Subscription;
import reactor.core.CoreSubscriber;
import reactor.core.publisher.Operators;
import reactor.util.context.Context;

/**
 * The publisher that a stream's function returned for one chunk: its elements are passed directly to the subscriber,
 * its completion is handled by the next turn.
 */
final class ChunkUse<T> implements CoreSubscriber<T> {

    private static final AtomicReferenceFieldUpdater<ChunkUse<?>, Subscription> UPSTREAM = updater();

    private final StreamSubscription<T> stream;
    private final CoreSubscriber<? super T> actual;
    private final ChunkLease lease;

    private volatile @Nullable Subscription upstream;

    // The publisher's signals only, until over publishes them to the turns.
    private long emitted;
    private @Nullable Throwable error;
    private volatile boolean over;
    private volatile boolean emitting; // pairs with cancel(): each writes its own, and then reads the other's

    private long granted; // turns only

    ChunkUse(StreamSubscription<T> stream, CoreSubscriber<? super T> actual, ChunkLease lease) {
        this.stream = stream;
        this.actual = actual;
        this.lease = lease;
    }

    @SuppressWarnings({"unchecked", "rawtypes"}) // a class literal has no type arguments
    private static AtomicReferenceFieldUpdater<ChunkUse<?>, Subscription> updater() {
        return (AtomicReferenceFieldUpdater)
                AtomicReferenceFieldUpdater.newUpdater(ChunkUse.class, Subscription.class, "upstream");
    }

    ChunkLease lease() {
        return lease;
    }

    boolean isOver() {
        return over;
    }

    /** Returns the number of elements it has emitted. Only when it is over. */
    long emitted() {
        return emitted;
    }

    /** Returns why it failed, or null. Only when it is over. */
    @Nullable
    Throwable error() {
        return error;
    }

    /** Requests more: {@code total} is the maximum that this publisher may emit. In turns. */
    void grant(long total) {
        Subscription source = upstream;
        if (source != null && total > granted) {
            long more = total == Long.MAX_VALUE ? total : total - granted;
            granted = total;
            try {
                source.request(more);
            } catch (Throwable e) {
                onError(stream.thrown(e, lease));
            }
        }
    }

    /** Stops it; any thread. An element that is being passed to the subscriber may still be: {@link #isEmitting}. */
    void cancel() {
        Operators.terminate(UPSTREAM, this);
    }

    /** Returns whether the subscriber is in {@code onNext}; after a cancel, a turn follows once it no longer is. */
    boolean isEmitting() {
        return emitting;
    }

    private boolean isCancelled() {
        return upstream == Operators.cancelledSubscription();
    }

    @Override
    public void onSubscribe(Subscription s) {
        if (Operators.setOnce(UPSTREAM, this, s)) {
            stream.signal(); // a turn adds the demand
        }
    }

    @Override
    public void onNext(T element) {
        emitting = true;
        try {
            if (over || isCancelled() || stream.isStopped()) {
                Operators.onDiscard(element, currentContext());
                return;
            }
            emitted++;
            actual.onNext(element);
        } finally {
            emitting = false;
            if (isCancelled()) {
                stream.signal(); // a terminal signal waits for this
            }
        }
    }

    @Override
    public void onError(Throwable cause) {
        if (over || stream.isStopped()) {
            Operators.onErrorDropped(cause, currentContext());
            return;
        }
        error = cause;
        over = true;
        stream.signal();
    }

    @Override
    public void onComplete() {
        over = true;
        stream.signal();
    }

    @Override
    public Context currentContext() {
        return stream.context();
    }
}
