// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.stream;

import io.penstock.engine.queue.DeliveryLoop;
import java.util.concurrent.atomic.AtomicReferenceFieldUpdater;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Subscription;
import reactor.core.CoreSubscriber;
import reactor.core.publisher.Operators;
import reactor.util.context.Context;

/** The publisher that a write's function returned for one chunk: it emits the number of valid bytes. */
final class ChunkFill implements CoreSubscriber<Long> {

    private static final AtomicReferenceFieldUpdater<ChunkFill, Subscription> UPSTREAM =
            AtomicReferenceFieldUpdater.newUpdater(ChunkFill.class, Subscription.class, "upstream");

    private final DeliveryLoop loop;
    private final ChunkLease lease;
    private final Context context;

    @SuppressWarnings("unused") // through UPSTREAM
    private volatile @Nullable Subscription upstream;

    // The publisher's signals only, until over publishes them to the turns.
    private @Nullable Long count;
    private @Nullable Throwable error;
    private volatile boolean over;

    ChunkFill(DeliveryLoop loop, ChunkLease lease, Context context) {
        this.loop = loop;
        this.lease = lease;
        this.context = context;
    }

    ChunkLease lease() {
        return lease;
    }

    boolean isOver() {
        return over;
    }

    /** Returns the number of valid bytes; 0 if it failed or emitted nothing. Only when it is over. */
    long count() {
        return count == null || error != null ? 0 : count;
    }

    /** Returns why it failed, or null. Only when it is over. */
    @Nullable
    Throwable error() {
        return error;
    }

    /** Stops it; any thread. */
    void cancel() {
        Operators.terminate(UPSTREAM, this);
    }

    @Override
    public void onSubscribe(Subscription s) {
        if (Operators.setOnce(UPSTREAM, this, s)) {
            s.request(Long.MAX_VALUE);
        }
    }

    @Override
    public void onNext(Long number) {
        if (over) {
            Operators.onNextDropped(number, context);
        } else if (count != null) {
            refuse(new IllegalArgumentException(
                    lease + " was filled twice, with " + count + " and " + number + " bytes"));
        } else if (number < 0 || number > lease.length()) {
            refuse(new IndexOutOfBoundsException(lease + " cannot be filled with " + number + " bytes"));
        } else {
            count = number;
        }
    }

    private void refuse(RuntimeException why) {
        cancel();
        fail(why);
    }

    @Override
    public void onError(Throwable cause) {
        if (over || upstream == Operators.cancelledSubscription()) { // nobody asks for the error any more
            Operators.onErrorDropped(cause, context);
        } else {
            fail(cause);
        }
    }

    private void fail(Throwable cause) {
        error = cause;
        over = true;
        loop.signal();
    }

    @Override
    public void onComplete() {
        if (!over) {
            over = true;
            loop.signal();
        }
    }

    @Override
    public Context currentContext() {
        return context;
    }
}
