// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine;

import io.penstock.engine.spi.Command;

/** A command that belongs to no transfer, such as a sync. */
interface SingleCommand {

    /** Describes the command. */
    void fill(Command command);

    /** Takes the result, on the lane: a negative one is for {@link Lane#failure}. */
    void ended(long result);

    /** Returns whether it is of a backend. */
    boolean isOf(Port port);

    /**
     * Signals that the backend was closed before it has ended. Its native end may come later, and only that frees what it
     * uses. On the lane, more than once if others are abandoned after it.
     */
    void abandoned();

    /**
     * Signals that nobody will learn the result, since the lane broke; what the device may still use stays as it is.
     * Any thread, more than once where it came while the lane broke; never after {@link #ended}.
     */
    void broken(Throwable cause);
}
