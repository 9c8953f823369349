// SPDX-License-Identifier: Apache-2.0
package io.penstock.benchmarks;

import io.penstock.Transfer;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.IntFunction;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Publisher;
import org.reactivestreams.Subscriber;
import org.reactivestreams.Subscription;

/**
 * Publishes transfers, each over a free chain, until {@link #end}. Minimal, since its cost is measured with the cost of
 * its subscriber.
 */
final class TransferSource implements Publisher<Transfer>, Subscription {

    private final IntFunction<Transfer> next;
    private final int[] ring; // free chains: returned by the deliveries, taken by the publisher's signals
    private final int mask;
    private final AtomicLong given = new AtomicLong();
    private final AtomicLong requested = new AtomicLong();
    private long taken; // by the emitting thread
    private @Nullable Subscriber<? super Transfer> subscriber;
    private volatile boolean ending;
    private boolean ended;

    /**
     * Creates an instance.
     *
     * @param next creates the transfer for a chain
     */
    TransferSource(int chains, IntFunction<Transfer> next) {
        this.next = next;
        int size = Integer.highestOneBit(Math.max(1, 2 * chains - 1));
        ring = new int[size];
        mask = size - 1;
        for (int chain = 0; chain < chains; chain++) {
            ring[chain] = chain;
        }
        given.set(chains);
    }

    /** Returns a chain; serial, before more is requested. */
    void give(int chain) {
        long count = given.getPlain();
        ring[(int) count & mask] = chain;
        given.setRelease(count + 1);
    }

    /** Makes the next request complete it. */
    void end() {
        ending = true;
    }

    @Override
    public void subscribe(Subscriber<? super Transfer> actual) {
        subscriber = actual;
        actual.onSubscribe(this);
    }

    @Override
    public void request(long n) {
        if (requested.getAndAdd(n) != 0) {
            return; // the emitting thread sees it
        }
        for (long left = n; left != 0; left = requested.addAndGet(-left)) {
            for (long i = 0; i < left && !ended; i++) {
                emit();
            }
        }
    }

    private void emit() {
        Subscriber<? super Transfer> to = subscriber;
        if (to == null) {
            throw new IllegalStateException("there is no subscriber");
        }
        if (ending) {
            ended = true;
            to.onComplete();
            return;
        }
        if (given.getAcquire() == taken) {
            throw new IllegalStateException("more is requested than there are chains");
        }
        to.onNext(next.apply(ring[(int) taken++ & mask]));
    }

    @Override
    public void cancel() {
        ended = true;
    }
}
