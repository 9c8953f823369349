// SPDX-License-Identifier: Apache-2.0
package io.penstock;

/**
 * Gets the beginning and the end of each transfer of a backend, including the transfers of streams and writes: for
 * metrics and traces. See {@link Backend#listen}.
 *
 * <p>Each call of {@link #started} is followed by one of {@link #ended} or {@link #cancelled}.
 *
 * <p><b>Threading:</b> called on the thread that subscribes, on I/O queues, and on the thread that cancels, several at
 * a time. Methods must return at once: they delay the transfers behind.
 *
 * <p><b>Errors:</b> an exception is dropped, as Reactor's {@code onErrorDropped} does.
 */
public interface TransferListener {

    /** Called when a transfer is subscribed to. */
    default void started(Transfer transfer) {}

    /**
     * Called before the subscriber gets the result.
     *
     * @param completion a {@link FailedCompletion} if the transfer failed
     */
    void ended(Completion completion);

    /** Called when the subscriber has cancelled a transfer; the device may still be at work on it. */
    default void cancelled(Transfer transfer) {}
}
