// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.stream;

import io.penstock.engine.queue.DeliveryLoop;
import java.util.concurrent.atomic.AtomicReferenceFieldUpdater;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Subscription;
import reactor.core.CoreSubscriber;
import reactor.core.publisher.Operators;
import reactor.util.context.Context;

/** The publisher that the application's function returned for one chunk; its end is handled by the next turn. */
abstract class ChunkPublisher<T> implements CoreSubscriber<T> {

    @SuppressWarnings("rawtypes") // a class literal has no type arguments
    private static final AtomicReferenceFieldUpdater<ChunkPublisher, Subscription> UPSTREAM =
            AtomicReferenceFieldUpdater.newUpdater(ChunkPublisher.class, Subscription.class, "upstream");

    private final DeliveryLoop loop;
    private final ChunkLease lease;
    private final Context context;

    private volatile @Nullable Subscription upstream;

    private @Nullable Throwable error; // the publisher's signals only, until over publishes it to the turns
    private volatile boolean over;

    ChunkPublisher(DeliveryLoop loop, ChunkLease lease, Context context) {
        this.loop = loop;
        this.lease = lease;
        this.context = context;
    }

    final ChunkLease lease() {
        return lease;
    }

    final boolean isOver() {
        return over;
    }

    /** Returns why it failed, or null. Only when it is over. */
    final @Nullable Throwable error() {
        return error;
    }

    /** Stops it; any thread. */
    final void cancel() {
        try {
            Operators.terminate(UPSTREAM, this);
        } catch (Throwable e) { // of the publisher's cancel: the terminal signal must still come
            Operators.onErrorDropped(e, context);
        }
    }

    final boolean isCancelled() {
        return upstream == Operators.cancelledSubscription();
    }

    /** Returns the subscription of the publisher; null if there is none yet. */
    final @Nullable Subscription upstream() {
        return upstream;
    }

    /** Returns whether a subscription is the first, and comes before a cancel. */
    final boolean accept(Subscription s) {
        return Operators.setOnce(UPSTREAM, this, s);
    }

    final void fail(Throwable cause) {
        error = cause;
        end();
    }

    final void end() {
        over = true;
        loop.signal();
    }

    @Override
    public final Context currentContext() {
        return context;
    }
}
