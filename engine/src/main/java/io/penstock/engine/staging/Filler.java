// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.staging;

import java.util.ArrayDeque;

/**
 * Takes pieces that are ready and does their host I/O. Where the device allows any thread, it starts their copies too,
 * and fills the next slot while the one before is copied.
 */
final class Filler implements Runnable {

    private final FillerPool pool;
    private final ArrayDeque<Piece> copying = new ArrayDeque<>(); // oldest first
    int nextQueue; // for the pool

    Filler(FillerPool pool) {
        this.pool = pool;
    }

    @Override
    public void run() {
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
        Piece oldest = copying.peek();
        if (oldest != null && copying.size() >= oldest.queue.slotsPerFiller()) {
            return settle(oldest, mayWait) || settled;
        }
        // Nobody sleeps on a copy that runs: it would be seen too late.
        Piece piece = pool.take(this, mayWait && oldest == null);
        if (piece != null) {
            work(piece);
            return true;
        }
        return (oldest != null && settle(oldest, mayWait)) || settled;
    }

    private boolean settleEnded() {
        boolean any = false;
        for (Piece oldest = copying.peek(); oldest != null && settle(oldest, false); oldest = copying.peek()) {
            any = true;
        }
        return any;
    }

    private boolean settle(Piece oldest, boolean mayWait) {
        DeviceSide copies = oldest.queue.copies;
        long answer = mayWait ? copies.await(oldest) : copies.poll(oldest);
        if (answer == DeviceSide.RUNNING) {
            return false;
        }
        copying.poll();
        if (oldest.queue.stepped(oldest, answer)) {
            work(oldest);
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
        long started = queue.copies.start(piece);
        if (started < 0) {
            queue.complete(piece, started);
        } else {
            copying.add(piece);
        }
    }
}
