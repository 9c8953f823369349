// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.spi;

/**
 * A way to carry out native requests: an io_uring, a pool of blocking calls, a vendor's batch or command queue, a ring of
 * staging slots.
 *
 * <p><b>Threading:</b> every method but {@link #wake} is called by one thread, the lane's (rule 301).
 *
 * <p><b>Errors:</b> {@link #enqueue} does not fail: what the device refuses fails the request. A queue that is broken as
 * a whole fails every request.
 */
public interface NativeQueue {

    /** Returns how many requests may be queued or in flight at once; tags are 0 to {@code depth() - 1}. */
    int depth();

    /**
     * Takes a request; the device may get it now or at the next {@link #turn}. Neither blocks nor ends the request: even
     * one that is done at once is completed by {@code turn}.
     *
     * @param request the queue's until it has completed or failed it
     */
    void enqueue(Request request);

    /**
     * Asks the device to give up a request that is in flight. Whatever it answers, the request is still completed or
     * failed, and only that frees the memory (rules 102, 201).
     */
    void cancel(Request request);

    /**
     * Hands queued requests to the device with as few native calls as it can, and completes or fails those that have
     * ended. Once it has ended one it does not wait: what follows from that, the lane knows without a {@link #wake}.
     *
     * @param waitNanos how long to wait if nothing has ended: 0 not at all, negative until something has or a
     *     {@link #wake}
     */
    void turn(long waitNanos);

    /** Ends a waiting {@link #turn}, or keeps the next one from waiting. Any thread; cheap if called again. */
    void wake();

    /** Stops it and frees what it owns; no request is in flight. */
    void close();
}
