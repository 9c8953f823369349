// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine;

import io.penstock.PenstockException;
import io.penstock.engine.spi.Command;

/** A command that belongs to no transfer, such as a sync. */
interface SingleCommand {

    /** Describes the command. */
    void fill(Command command);

    /** Takes the result, on the lane: a negative one is for {@link Lane#failure}. */
    void ended(long result);

    /** Returns whose it is. */
    Port port();

    /** Returns what was asked for, in the words of an error. */
    String request();

    /**
     * Signals that nobody will learn the result, since the lane broke or the backend was closed; what the device may still use
     * stays as it is. Any thread, any number of times. After a broken lane {@link #ended} is not called; after a close it may
     * be, and frees what was used.
     */
    void lose(PenstockException why);
}
