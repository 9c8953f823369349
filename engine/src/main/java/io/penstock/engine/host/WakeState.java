// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.host;

import java.util.concurrent.atomic.AtomicInteger;

/**
 * Whether a lane waits, and whether it was told not to: waking a lane that works costs no system call.
 *
 * <p>A waker publishes its work and then calls {@link #wake}; the lane calls {@link #beginWait} and looks for work
 * after every wait. Both change one atomic word, so that either the lane sees the wake and does not wait, or the
 * waker sees the lane wait and ends that.
 */
final class WakeState {
    private static final int WORKING = 0;
    private static final int WAITING = 1;
    private static final int WOKEN = 2;

    private final AtomicInteger state = new AtomicInteger(WORKING);

    /** Returns whether the lane may wait; false uses up a wake. Lane only; {@link #endWait} follows if true. */
    boolean beginWait() {
        if (state.compareAndSet(WORKING, WAITING)) {
            return true;
        }
        state.getAndSet(WORKING); // was WOKEN; a wake that comes in between is not lost, as the lane looks around now
        return false;
    }

    /** Says that the lane works again, for whatever reason. Lane only. */
    void endWait() {
        state.getAndSet(WORKING); // reads too: what a waker published before its wake is seen after this
    }

    /** Returns whether the lane still waits and was not woken. Lane only, for spurious ends of a wait. */
    boolean isWaiting() {
        return state.get() == WAITING;
    }

    /** Notes a wake; returns whether the lane waits, and the caller is the one to end that. Any thread. */
    boolean wake() {
        // Always a read-modify-write: a look alone could overtake the store by which the waker published its work.
        return state.getAndSet(WOKEN) == WAITING;
    }
}
