// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.staging;

import io.penstock.engine.kit.Pause;
import io.penstock.engine.spi.Wakeup;
import java.util.concurrent.Semaphore;

/**
 * Lets one thread of many poll for a permit before it sleeps: a permit goes to that thread without a wake-up, and the
 * others sleep. If all of them polled, they would contend for the cache line with one another and with the thread that
 * releases the permit.
 */
final class SinglePoller {

    private final Wakeup wakeup = new Wakeup(() -> {}); // of the polling thread, if any
    private final Pause pause = new Pause(); // that thread's

    /** Hands a permit to the polling thread; returns false if there is none. Any thread. */
    boolean handOver() {
        return wakeup.rouse();
    }

    /**
     * Polls for a permit, including those not handed to a thread; returns whether there was one. Returns at once if
     * another thread is polling.
     */
    boolean poll(Semaphore permits, long nanos) {
        if (!wakeup.announce()) {
            return false;
        }
        pause.spinFor(nanos);
        do {
            if (!wakeup.isWaiting()) {
                return wakeup.end();
            }
            if (permits.tryAcquire()) {
                if (wakeup.end()) {
                    permits.release(); // also handed one
                }
                return true;
            }
        } while (pause.next() == 0);
        return wakeup.end(); // handed one at the last moment
    }
}
