// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.spi.staging;

import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;

/** Wakes the one thread that waits at it; rings while no thread waits are kept, as one. */
public final class Doorbell {

    private final Semaphore rings = new Semaphore(0);

    /** Makes one. */
    public Doorbell() {}

    /**
     * Ends a wait, or keeps the next one from waiting. Any thread; no system call unless a thread waits.
     *
     * <p>Pairs with {@link #await}: work is published before this, and looked for after that. A ringer who finds an
     * earlier ring still there may leave it at that: the waiter will take it later, and look for work after that.
     */
    public void ring() {
        if (rings.availablePermits() == 0) {
            rings.release();
        }
    }

    /** Takes a ring, if there is one; does not wait. */
    public boolean poll() {
        if (rings.availablePermits() == 0) {
            return false;
        }
        rings.drainPermits();
        return true;
    }

    /**
     * Waits for a ring.
     *
     * @param nanos how long; negative for ever
     */
    public void await(long nanos) {
        try {
            if (nanos < 0) {
                rings.acquire();
            } else if (!rings.tryAcquire(nanos, TimeUnit.NANOSECONDS)) {
                return;
            }
        } catch (InterruptedException e) {
            return; // an interrupt asks this thread to check for work, which it does on return
        }
        rings.drainPermits();
    }
}
