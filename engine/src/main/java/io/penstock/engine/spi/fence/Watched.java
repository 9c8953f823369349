// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.spi.fence;

/**
 * A fence that is polled, by an {@link EventWatch} as a rule.
 *
 * <p><b>Threading:</b> whichever thread watches it, one at a time.
 */
public interface Watched {

    /**
     * Queries the device, and signals the subscribers once the event has. Never blocks.
     *
     * @return whether it has passed, and is looked at no more
     */
    boolean look();

    /** Returns how long it is looked at again and again, if longer than usual. */
    default long spinNanos() {
        return 0;
    }
}
