// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.publisher;

import java.util.Arrays;
import org.jctools.queues.varhandle.MpscVarHandleArrayQueue;
import org.jspecify.annotations.Nullable;

/**
 * The transfers that have ended and were not delivered yet, in order of completion or of their numbers.
 *
 * <p><b>Threading:</b> {@link #add} on any thread, by several I/O queues concurrently; everything else in turns.
 */
final class SubmitArrivals {

    private final MpscVarHandleArrayQueue<SubmittedTransfer> queue;
    private final @Nullable SubmittedTransfer @Nullable [] ring; // by number, if order is requested
    private int next; // the number that the ring waits for
    private @Nullable SubmittedTransfer head;

    SubmitArrivals(int capacity, boolean inOrder) {
        // Never full: an arrival holds a place of the window, and frees it after it was removed here.
        queue = new MpscVarHandleArrayQueue<>(Math.max(2, capacity));
        ring = inOrder ? new SubmittedTransfer[Math.max(2, Integer.highestOneBit(capacity) << 1)] : null;
    }

    void add(SubmittedTransfer arrival) {
        if (!queue.offer(arrival)) {
            throw new IllegalStateException("more arrivals than the capacity of the window: " + queue.size());
        }
    }

    /** Returns the next transfer to deliver, without removing it; null if it has not arrived. */
    @Nullable
    SubmittedTransfer head() {
        if (head == null) {
            head = ring == null ? queue.poll() : nextInOrder(ring);
        }
        return head;
    }

    private @Nullable SubmittedTransfer nextInOrder(@Nullable SubmittedTransfer[] ring) {
        // Numbers in flight are within one window of each other, so they do not collide in the ring.
        int mask = ring.length - 1;
        for (SubmittedTransfer arrival = queue.poll(); arrival != null; arrival = queue.poll()) {
            ring[arrival.number() & mask] = arrival;
        }
        return ring[next & mask];
    }

    /** Removes the transfer that {@link #head} returned. */
    void removeHead() {
        head = null;
        if (ring != null) {
            ring[next++ & (ring.length - 1)] = null;
        }
    }

    /** Drops everything. */
    void clear() {
        head = null;
        queue.clear();
        if (ring != null) {
            Arrays.fill(ring, null);
        }
    }
}
