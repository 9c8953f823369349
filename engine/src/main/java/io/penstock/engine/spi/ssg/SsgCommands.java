// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.spi.ssg;

import io.penstock.engine.spi.Request;

/**
 * The commands of one {@link SsgQueue} on its device.
 *
 * <p><b>Threading:</b> the lane calls every method. A command that the device has taken is its own until it comes back by
 * the methods of {@link SsgQueue}.
 *
 * @param <C> the commands
 */
public interface SsgCommands<C extends SsgCommand> {

    /** Makes the command of a request; called once per tag. */
    C command(Request request);

    /**
     * Takes a READ or a WRITE of {@linkplain SsgCommand#wholeBlocks() whole blocks} between {@link SsgCommand#object()} and
     * {@link SsgCommand#memory()}; by way of {@link SsgCommand#ring()}, from its first byte on, where there is that. The
     * device may begin with it now or in {@link #flush}; one that it refuses comes back with its cause.
     *
     * @return whether it was taken; one that was not is tried again in the next turn
     */
    boolean start(C command);

    /** Takes a COPY_IN or a COPY_OUT between {@link SsgCommand#memory()} and {@link SsgCommand#slot()}. */
    void copy(C command);

    /** Has the device begin with all that it has taken. */
    void flush();

    /** Looks for commands that have ended. */
    default void poll() {}

    /**
     * Returns whether a turn must not sleep until something rings, since only polling shows an end, or that a command can
     * start.
     *
     * @param waiting whether commands wait to be started
     */
    default boolean mustPoll(boolean waiting) {
        return false;
    }

    /**
     * Follows a READ or a WRITE whose bytes are {@linkplain SsgCommand#moved() counted}, and which is about to complete.
     *
     * @return false if the device has something to do first: {@link SsgQueue#done} follows
     */
    default boolean finish(C command) {
        return true;
    }

    /** Frees what it has; no command is in flight. */
    void close();
}
