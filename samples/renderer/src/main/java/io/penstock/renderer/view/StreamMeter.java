// SPDX-License-Identifier: Apache-2.0
package io.penstock.renderer.view;

import io.penstock.Completion;
import io.penstock.Transfer;
import io.penstock.TransferListener;
import java.util.Arrays;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.atomic.LongAdder;

/**
 * Counts the transfers of a backend: bytes moved, bytes in flight, and how long the latest ones took.
 *
 * <p><b>Threading:</b> any thread.
 */
final class StreamMeter implements TransferListener {

    private static final int KEPT = 1024;

    private final LongAdder moved = new LongAdder();
    private final LongAdder inFlight = new LongAdder();
    private final AtomicLong ended = new AtomicLong();
    private final AtomicLongArray nanos = new AtomicLongArray(KEPT); // of the latest transfers, a ring

    @Override
    public void started(Transfer transfer) {
        inFlight.add(transfer.length());
    }

    @Override
    public void ended(Completion completion) {
        inFlight.add(-completion.transfer().length());
        moved.add(completion.bytes());
        long index = ended.getAndIncrement();
        nanos.set((int) (index % KEPT), completion.endedNanos() - completion.subscribedNanos());
    }

    @Override
    public void cancelled(Transfer transfer) {
        inFlight.add(-transfer.length());
    }

    /** Returns the bytes moved so far. */
    long movedBytes() {
        return moved.sum();
    }

    /** Returns the bytes of transfers that have begun and not ended. */
    long inFlightBytes() {
        return inFlight.sum();
    }

    /** Returns how many transfers have ended so far. */
    long ended() {
        return ended.get();
    }

    /**
     * Returns how long transfers took that have ended since there were {@code before}, sorted, in nanoseconds: the
     * latest ones, if there are very many.
     */
    long[] latenciesSince(long before) {
        long now = ended.get();
        long[] latest = new long[(int) Math.min(now - before, KEPT)];
        for (int i = 0; i < latest.length; i++) {
            latest[i] = nanos.get((int) ((now - 1 - i) % KEPT));
        }
        Arrays.sort(latest);
        return latest;
    }
}
