// SPDX-License-Identifier: Apache-2.0
package io.penstock.webflux;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;

/**
 * Whether bytes come at a byte for each millisecond that they are waited for, by and large: what comes is credit, for a
 * patience at most, and the time of waiting uses it up. A byte now and then is not enough.
 *
 * <p><b>Threading:</b> {@link #waits} and {@link #came} one after the other, {@link #isTooSlow} on any thread.
 */
final class Pace {

    private final Scheduler clock = Schedulers.parallel();
    private final long patienceMillis;
    private long credit;
    private long since;
    private boolean waiting;

    Pace(Duration patience) {
        this.patienceMillis = patience.toMillis();
        this.credit = patienceMillis;
    }

    private long now() {
        return clock.now(TimeUnit.MILLISECONDS);
    }

    /** Called when bytes are waited for. */
    synchronized void waits() {
        waiting = true;
        since = now();
    }

    /** Called when bytes have come. */
    synchronized void came(int bytes) {
        if (waiting) {
            waiting = false;
            credit = Math.min(patienceMillis, credit - (now() - since) + bytes);
        }
    }

    /** Returns whether the credit is used up. */
    synchronized boolean isTooSlow() {
        return credit - (waiting ? now() - since : 0) < 0;
    }
}
