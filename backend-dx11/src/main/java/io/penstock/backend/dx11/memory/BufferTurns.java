// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.dx11.memory;

import java.util.ArrayList;
import java.util.List;

/**
 * The lock of a buffer between copies in the pipeline and transfers by AMD's interface: by the manual, the buffer must
 * not be used in the pipeline between call and wait. Several users of one kind may hold it at a time. If both kinds
 * contend, they alternate: the kind that holds it starts nothing more while the other waits.
 *
 * <p>Thread-safe.
 */
public final class BufferTurns {

    // Guarded by this.
    private int copies;
    private int transfers;
    private int waitingCopies;
    private final List<Runnable> waitingQueues = new ArrayList<>(1); // their wakeups; empty where a transfer may begin

    /**
     * Acquires it for a transfer by AMD's interface, unless copies hold it or wait for it.
     *
     * @param waker wakes the I/O queue, the same at each call; run, after a refusal, when a retry may succeed
     */
    public synchronized boolean tryTransfer(Runnable waker) {
        if (copies > 0 || waitingCopies > 0) {
            if (!waitingQueues.contains(waker)) {
                waitingQueues.add(waker);
            }
            return false;
        }
        transfers++;
        return true;
    }

    /** Releases it after a transfer. */
    public synchronized void endTransfer() {
        if (--transfers == 0) {
            notifyAll();
        }
    }

    /** Acquires it for a copy, unless transfers hold it; while they wait, fails if it is not yet held by a copy. */
    public synchronized boolean tryCopy() {
        if (transfers > 0 || (!waitingQueues.isEmpty() && copies > 0)) {
            return false;
        }
        copies++;
        return true;
    }

    /** Acquires it for a copy; waits for transfers that hold it, and keeps others from starting. */
    public synchronized void copy() {
        boolean interrupted = false;
        waitingCopies++;
        while (transfers > 0) {
            try {
                wait();
            } catch (InterruptedException e) {
                interrupted = true; // the copy must be made anyway
            }
        }
        waitingCopies--;
        copies++;
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    /** Releases it after a copy. */
    public void endCopy() {
        List<Runnable> ringing;
        synchronized (this) {
            if (--copies > 0 || waitingQueues.isEmpty()) {
                return;
            }
            // A waiter that does not retry, since its transfer was cancelled, blocks no other.
            ringing = List.copyOf(waitingQueues);
            waitingQueues.clear();
        }
        ringing.forEach(Runnable::run);
    }
}
