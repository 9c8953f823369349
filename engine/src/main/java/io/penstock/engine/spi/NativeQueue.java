// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.spi;

/**
 * A way to run native commands: an io_uring, a pool of blocking calls, a vendor's batch or command queue, a ring of
 * staging slots.
 *
 * <p><b>Threading:</b> every method but {@link #wake} is called by one thread, the lane's (rule 301).
 *
 * <p><b>Errors:</b> {@link #enqueue} does not fail: what the device refuses is the result of the command. A queue that
 * is broken as a whole answers every command with a failure.
 */
public interface NativeQueue {

    /** Returns how many commands may be queued or in flight at once; ids are 0 to {@code depth() - 1}. */
    int depth();

    /**
     * Takes a command; the device may get it now or at the next {@link #turn}. Neither blocks nor completes: even a
     * command that is done at once is reported by {@code turn}.
     *
     * @param id free, and the command's until its completion has been reported
     */
    void enqueue(int id, Command command);

    /**
     * Asks the device to give up a command. Whatever it answers, the command's own completion is still reported, and
     * only that frees the memory (rules 102, 201).
     */
    void cancel(int id);

    /**
     * Hands queued commands to the device with as few native calls as it can and reports what has completed. Once it
     * has reported one it waits no more: the lane tells itself what follows without a {@link #wake}.
     *
     * @param waitNanos how long to wait if nothing has completed: 0 not at all, negative until there is a completion
     *     or a {@link #wake}
     * @param completions called on this thread, once per command (rule 102)
     */
    void turn(long waitNanos, Completions completions);

    /** Ends a waiting {@link #turn}, or keeps the next one from waiting. Any thread; cheap if called again. */
    void wake();

    /** Returns what a negative result means. */
    NativeFailure failure(Command.Kind kind, long result);

    /** Stops it and frees what it owns; no command is in flight. */
    void close();

    /** Takes the completions of a turn. */
    @FunctionalInterface
    interface Completions {

        /**
         * Says that a command has ended and that the device has let go of its memory.
         *
         * @param result the bytes moved, or a negative number of the queue's own for {@link #failure}
         */
        void completed(int id, long result);
    }
}
