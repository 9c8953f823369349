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
 * Publishes transfers, each over a free slot, until it is told to end. As lean as a publisher can be, since it is
 * measured with what it feeds.
 */
final class TransferSource implements Publisher<Transfer>, Subscription {

    private final IntFunction<Transfer> next;
    private final int[] ring; // free slots: given back by the deliveries, taken by the publisher's signals
    private final int mask;
    private final AtomicLong given = new AtomicLong();
    private final AtomicLong requested = new AtomicLong();
    private long taken; // by whoever emits
    private @Nullable Subscriber<? super Transfer> subscriber;
    private volatile boolean ending;
    private boolean ended;

    /**
     * Makes one.
     *
     * @param next makes the transfer for a slot
     */
    TransferSource(int slots, IntFunction<Transfer> next) {
        this.next = next;
        int size = Integer.highestOneBit(Math.max(1, 2 * slots - 1));
        ring = new int[size];
        mask = size - 1;
        for (int slot = 0; slot < slots; slot++) {
            ring[slot] = slot;
        }
        given.set(slots);
    }

    /** Takes a slot back; serial, before more is requested. */
    void give(int slot) {
        long count = given.getPlain();
        ring[(int) count & mask] = slot;
        given.setRelease(count + 1);
    }

    /** Lets the next request end it. */
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
            return; // whoever emits sees it
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
            throw new IllegalStateException("nobody has subscribed");
        }
        if (ending) {
            ended = true;
            to.onComplete();
            return;
        }
        if (given.getAcquire() == taken) {
            throw new IllegalStateException("more is requested than there are slots");
        }
        to.onNext(next.apply(ring[(int) taken++ & mask]));
    }

    @Override
    public void cancel() {
        ended = true;
    }
}
