// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.stream;

import org.reactivestreams.Subscription;
import reactor.core.publisher.Operators;

/**
 * The publisher that a stream's function returned for one chunk: its elements are passed directly to the subscriber,
 * its completion is handled by the next turn.
 */
final class ChunkUse<T> extends ChunkPublisher<T> {

    private final StreamSubscription<T> stream;

    private long emitted; // the publisher's signals only, until it is over
    private volatile boolean emitting; // pairs with cancel(): each writes its own, and then reads the other's

    private long granted; // turns only

    ChunkUse(StreamSubscription<T> stream, ChunkLease lease) {
        super(stream, lease, stream.context());
        this.stream = stream;
    }

    /** Returns the number of elements it has emitted. Only when it is over. */
    long emitted() {
        return emitted;
    }

    /** Requests more: {@code total} is the maximum that this publisher may emit. In turns. */
    void grant(long total) {
        Subscription source = upstream();
        if (source != null && total > granted) {
            long more = total == Long.MAX_VALUE ? total : total - granted;
            granted = total;
            try {
                source.request(more);
            } catch (Throwable e) {
                onError(stream.thrown(e, lease()));
            }
        }
    }

    /**
     * Returns whether the subscriber is in {@code onNext}, also after a cancel: then a turn follows once it no longer is.
     */
    boolean isEmitting() {
        return emitting;
    }

    @Override
    public void onSubscribe(Subscription s) {
        if (accept(s)) {
            stream.signal(); // a turn adds the demand
        }
    }

    @Override
    public void onNext(T element) {
        emitting = true;
        try {
            if (isOver() || isCancelled() || stream.isStopped()) {
                Operators.onDiscard(element, currentContext());
                return;
            }
            emitted++;
            stream.emit(element);
        } finally {
            emitting = false;
            if (isCancelled()) {
                stream.signal(); // a terminal signal waits for this
            }
        }
    }

    @Override
    public void onError(Throwable cause) {
        if (isOver() || stream.isStopped()) {
            Operators.onErrorDropped(cause, currentContext());
        } else {
            fail(cause);
        }
    }

    @Override
    public void onComplete() {
        end();
    }
}
