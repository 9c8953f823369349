// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.spi.staging;

import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * The one thread of many that looks for a permit before it sleeps: who has one to give hands it over without waking
 * anybody, and the others sleep. Were all of them to look, they would take the line from one another, and from whoever
 * brings the permit.
 */
final class Lookout {

    private static final int NOBODY = 0;
    private static final int LOOKING = 1;
    private static final int HANDED = 2; // and not noticed yet

    private final AtomicInteger state = new AtomicInteger();

    /** Hands a permit to the one who looks; false if nobody does. Any thread. */
    boolean hand() {
        return state.compareAndSet(LOOKING, HANDED);
    }

    /**
     * Looks for a permit, among those that nobody was handed too; returns whether there was one. At once if another
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
