// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.stream;

import io.penstock.engine.queue.DeliveryLoop;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Subscription;
import reactor.core.publisher.Operators;
import reactor.util.context.Context;

/** The publisher that a write's function returned for one chunk: it emits the number of valid bytes. */
final class ChunkFill extends ChunkPublisher<Long> {

    private @Nullable Long count; // the publisher's signals only, until it is over

    ChunkFill(DeliveryLoop loop, ChunkLease lease, Context context) {
        super(loop, lease, context);
    }

    /** Returns the number of valid bytes; 0 if it failed or emitted nothing. Only when it is over. */
    long count() {
        return count == null || error() != null ? 0 : count;
    }

    @Override
    public void onSubscribe(Subscription s) {
        if (accept(s)) {
            try {
                s.request(Long.MAX_VALUE);
            } catch (Throwable e) { // fatal to Reactor, which signals nothing then
                onError(e);
            }
        }
    }

    @Override
    public void onNext(Long number) {
        if (isOver()) {
            Operators.onNextDropped(number, currentContext());
        } else if (count != null) {
            refuse(new IllegalArgumentException(
                    lease() + " was filled twice, with " + count + " and " + number + " bytes"));
        } else if (number < 0 || number > lease().length()) {
            refuse(new IndexOutOfBoundsException(lease() + " cannot be filled with " + number + " bytes"));
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
        if (isOver() || isCancelled()) { // nobody asks for the error any more
            Operators.onErrorDropped(cause, currentContext());
        } else {
            fail(cause);
        }
    }

    @Override
    public void onComplete() {
        if (!isOver()) {
            end();
        }
    }
}
