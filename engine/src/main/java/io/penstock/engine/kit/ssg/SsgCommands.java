// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.kit.ssg;

import io.penstock.engine.spi.Request;

/**
 * The commands of one {@link SsgQueue} on its device.
 *
 * <p><b>Threading:</b> the I/O queue calls every method. The device owns a command that it has taken until it returns
 * it by the methods of {@link SsgQueue}.
 *
 * @param <C> the commands
 */
public interface SsgCommands<C extends SsgCommand> {

    /** Creates the command of a request; called once per tag. */
    C command(Request request);

    /**
     * Takes a READ or a WRITE of {@linkplain SsgCommand#wholeBlocks() whole blocks} between {@link SsgCommand#object()}
     * and the request's memory; through {@link SsgCommand#ring()}, from its first byte on, if not null. The
     * device may begin with it now or in {@link #flush}; it returns a refused command with its cause.
     *
     * @return whether it was taken; if not, it is tried again in the next turn
     */
    boolean start(C command);

    /** Takes a COPY_IN or a COPY_OUT between the request's memory and its staging buffer. */
    void copy(C command);

    /** Makes the device begin with all commands that it has taken. */
    void flush();

    /** Polls for commands that have ended. */
    default void poll() {}

    /**
     * Returns whether a turn must not sleep until woken, since only polling detects that a command has ended or can
     * start.
     *
     * @param waiting whether commands wait to be started
     */
    default boolean mustPoll(boolean waiting) {
        return false;
    }

    /**
     * Called for a READ or a WRITE that is about to complete, with its bytes {@linkplain SsgCommand#moved() counted}.
     *
     * @return false if the device has work to do first: it then calls {@link SsgQueue#done}
     */
    default boolean finish(C command) {
        return true;
    }

    /** Frees its resources; no command is in flight. */
    void close();
}
