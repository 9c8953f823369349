// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.kit.fence;

/**
 * A fence that is polled, usually by an {@link EventWatch}.
 *
 * <p><b>Threading:</b> the watching thread, one at a time.
 */
public interface Watched {

    /**
     * Queries the device, and signals the subscribers once the event is signalled. Never blocks.
     *
     * @return whether it is signalled; it is then polled no more
     */
    boolean poll();

    /** Returns how long to poll it without a pause, if longer than usual. */
    default long spinNanos() {
        return 0;
    }
}
