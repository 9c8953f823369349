// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.spi.staging;

import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Lets one thread of many poll for a permit before it sleeps: a permit goes to that thread without a wake-up, and the others
 * sleep. If all of them polled, they would take the cache line from one another, and from the thread that gives the permit.
 */
final class Lookout {

    private static final int NOBODY = 0;
    private static final int LOOKING = 1;
    private static final int HANDED = 2; // and not noticed yet

    private final AtomicInteger state = new AtomicInteger();

    /** Hands a permit to the thread that polls; returns false if none does. Any thread. */
    boolean hand() {
        return state.compareAndSet(LOOKING, HANDED);
    }

    /**
     * Looks for a permit, including those that were handed to no thread; returns whether there was one. At once if another
     * thread looks.
     */
    boolean look(Semaphore others, long nanos) {
        if (!state.compareAndSet(NOBODY, LOOKING)) {
            return false;
        }
        long start = System.nanoTime();
        do {
            if (state.get() == HANDED) {
                state.set(NOBODY);
                return true;
            }
            if (others.tryAcquire()) {
                if (leave()) {
                    others.release(); // handed one as well
                }
                return true;
            }
            Thread.onSpinWait();
        } while (System.nanoTime() - start < nanos);
        return leave();
    }

    /** Looks no more; returns whether a permit was handed over at the last moment. */
    private boolean leave() {
        return state.getAndSet(NOBODY) == HANDED;
    }
}
