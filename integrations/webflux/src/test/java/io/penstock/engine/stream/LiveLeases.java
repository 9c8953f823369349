// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.stream;

/** Shows tests of other packages how many leases have not ended. */
public final class LiveLeases {

    private LiveLeases() {}

    public static long count() {
        return Leases.live();
    }

    /**
     * Waits until all have ended: a stream ends the lease of a chunk after its subscriber has the last element of it.
     */
    public static void awaitNone() {
        while (count() != 0) {
            if (Thread.interrupted()) { // by the time limit of tests
                throw new AssertionError(count() + " leases have not ended");
            }
            Thread.onSpinWait();
        }
    }
}
