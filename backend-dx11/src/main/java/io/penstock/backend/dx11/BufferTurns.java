// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.dx11;

import java.util.ArrayList;
import java.util.List;

/**
 * Who has a buffer: the pipeline, for copies of ours, or AMD's transfers, of which the manual says that the buffer must not
 * be used in the pipeline between call and wait. Several of one kind may have it at a time. Where both kinds want it they
 * take turns: the one that has it begins nothing more while the other waits.
 *
 * <p>Thread-safe.
 */
final class BufferTurns {

    // Guarded by this.
    private int copies;
    private int transfers;
    private int waitingCopies;
    private final List<Runnable> waitingLanes = new ArrayList<>(1); // their bells; empty where a transfer may begin

    /**
     * Takes it for a transfer of AMD's, unless copies have it or wait for it.
     *
     * @param bell the lane's, and the same at each call; rung, if it is refused, when it is worth asking again
     */
    synchronized boolean tryTransfer(Runnable bell) {
        if (copies > 0 || waitingCopies > 0) {
            if (!waitingLanes.contains(bell)) {
                waitingLanes.add(bell);
            }
            return false;
        }
        transfers++;
        return true;
    }

    /** Gives it back after a transfer. */
    synchronized void endTransfer() {
        if (--transfers == 0) {
            notifyAll();
        }
    }

    /** Takes it for a copy, unless transfers have it; while they wait, only where no other copy has it. */
    synchronized boolean tryCopy() {
        if (transfers > 0 || (!waitingLanes.isEmpty() && copies > 0)) {
            return false;
        }
        copies++;
        return true;
    }

    /** Takes it for a copy; waits for transfers that have it, and keeps others from beginning. */
    synchronized void copy() {
        boolean interrupted = false;
        waitingCopies++;
        while (transfers > 0) {
            try {
                wait();
            } catch (InterruptedException e) {
                interrupted = true; // the copy is due all the same
            }
        }
        waitingCopies--;
        copies++;
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    /** Gives it back after a copy. */
    void endCopy() {
        List<Runnable> ringing;
        synchronized (this) {
            if (--copies > 0 || waitingLanes.isEmpty()) {
                return;
            }
            // Who does not ask again, since his transfer was taken back, holds nobody up.
            ringing = List.copyOf(waitingLanes);
            waitingLanes.clear();
        }
        ringing.forEach(Runnable::run);
    }
}
