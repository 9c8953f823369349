// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.publisher;

import java.util.concurrent.atomic.AtomicIntegerFieldUpdater;
import java.util.concurrent.atomic.AtomicReferenceArray;

/**
 * The places of the transfers between publisher and subscriber, by which a cancel finds the transfers in flight.
 *
 * <p><b>Threading:</b> {@link #take} and {@link #put} by the publisher's signals, which are serial; {@link #give} in
 * turns; {@link #cancelAll} on any thread.
 */
final class SubmitWindow {

    private static final AtomicIntegerFieldUpdater<SubmitWindow> RELEASED =
            AtomicIntegerFieldUpdater.newUpdater(SubmitWindow.class, "released");

    private final AtomicReferenceArray<SubmittedTransfer> places;
    private final int[] free; // a ring: filled by give(), emptied by take()
    private final int mask;

    private int taken; // publisher only: places ever taken
    private int releasedSeen; // publisher only: released, as last read

    // The number of places ever freed; its release publishes the ring's entry to take()'s acquire.
    private volatile int released;

    SubmitWindow(int capacity) {
        int ring = capacity == 1 ? 1 : Integer.highestOneBit(capacity - 1) << 1;
        places = new AtomicReferenceArray<>(capacity);
        free = new int[ring];
        mask = ring - 1;
        for (int i = 0; i < capacity; i++) {
            free[i] = i;
        }
        released = capacity;
        releasedSeen = capacity;
    }

    /** Returns a free place, or -1 if the publisher sends more than was requested. */
    int take() {
        if (taken == releasedSeen) {
            releasedSeen = released;
            if (taken == releasedSeen) {
                return -1;
            }
        }
        return free[taken++ & mask];
    }

    /**
     * Makes an open transfer visible to cancels.
     *
     * <p>The caller checks afterwards whether a cancel came first: this write is before that read, as the canceller's
     * write of its flag is before its {@link #cancelAll}; one of the two sees the other.
     */
    void put(int place, SubmittedTransfer transfer) {
        places.set(place, transfer);
    }

    /**
     * Frees a place. When a transfer has ended before {@link #put} was reached, put comes last and leaves it in its
     * place: that is harmless, as cancelling it does nothing, and lasts until the place is taken again.
     */
    void give(int place) {
        places.lazySet(place, null);
        free[released & mask] = place;
        RELEASED.lazySet(this, released + 1);
    }

    /** Cancels all transfers in flight. */
    void cancelAll() {
        for (int i = 0; i < places.length(); i++) {
            SubmittedTransfer transfer = places.get(i);
            if (transfer != null) {
                transfer.cancel();
                places.compareAndSet(i, transfer, null);
            }
        }
    }
}
