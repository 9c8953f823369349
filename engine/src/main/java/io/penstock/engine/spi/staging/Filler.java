// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.spi.staging;

import io.penstock.engine.spi.ffi.TimerSlack;
import java.util.ArrayList;
import java.util.List;

/**
 * Takes pieces that are ready and does their host I/O. Where the device allows any thread, it starts their copies too,
 * and fills the next slot while the one before is copied.
 */
final class Filler implements Runnable {

    /** How long a filler waits for a copy before it serves others: many times what a slot takes on an idle link. */
    private static final long PATIENCE_NANOS = 1_000_000;

    private final FillerPool pool;
    private final List<Piece> copying = new ArrayList<>(); // oldest first
    int nextQueue; // for the pool
    long spinNanos; // for the pool: of the queue that it worked for last

    Filler(FillerPool pool) {
        this.pool = pool;
    }

    @Override
    public void run() {
        TimerSlack.minimize();
        while (!pool.isStopped()) {
            turn(true);
        }
    }

    /**
     * Does one thing, if there is one to do.
     *
     * @param mayWait whether to wait for it
     * @return whether anything was done
     */
    boolean turn(boolean mayWait) {
        boolean settled = settleEnded();
        boolean full =
                !copying.isEmpty() && copying.size() >= copying.get(0).queue.slotsPerFiller();
        if (full && (!mayWait || settle(0, true))) {
            return settled || mayWait;
        }
        // Full and out of patience, perhaps because a device hangs: the pieces of others have slots, and may go on.
        Piece piece = pool.take(this, mayWait && copying.isEmpty());
        if (piece != null) {
            work(piece);
            return true;
        }
        // Nobody sleeps on a semaphore while a copy runs: its end would be seen too late.
        return (!copying.isEmpty() && settle(0, mayWait)) || settled;
    }

    /** Ends all copies that have ended: behind one of a device that hangs there may be another's. */
    private boolean settleEnded() {
        boolean any = false;
        for (int i = 0; i < copying.size(); ) {
            if (settle(i, false)) {
                any = true;
            } else {
                i++;
            }
        }
        return any;
    }

    private boolean settle(int index, boolean mayWait) {
        Piece piece = copying.get(index);
        DeviceSide copies = piece.queue.copies;
        if (!(mayWait ? copies.await(piece, PATIENCE_NANOS) : copies.poll(piece))) {
            return false;
        }
        copying.remove(index);
        if (piece.queue.stepped(piece, piece.moved)) {
            work(piece);
        }
        return true;
    }

    private void work(Piece piece) {
        StagedQueue queue = piece.queue;
        while (!queue.dropped(piece)) {
            if (piece.step == Piece.Step.COPY) {
                copy(queue, piece);
                return;
            }
            if (!queue.stepped(piece, queue.host.run(piece))) {
                return;
            }
            if (!queue.fuses()) {
                queue.hand(piece);
                return;
            }
        }
    }

    private void copy(StagedQueue queue, Piece piece) {
        if (queue.copies.start(piece)) {
            copying.add(piece);
        } else {
            queue.end(piece, piece.failure);
        }
    }
}
