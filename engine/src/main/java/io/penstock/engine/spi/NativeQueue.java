// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.spi;

import io.penstock.Backend.StagingState;
import java.util.List;

/**
 * Executes native requests: an io_uring, a pool of blocking calls, a vendor's batch or command queue, a ring of staging
 * buffers.
 *
 * <p><b>Threading:</b> every method but {@link #wakeup} is called on the thread of the I/O queue (rule 301).
 *
 * <p><b>Errors:</b> {@link #enqueue} does not fail: a refusal by the device fails the request. A queue that is broken
 * as a whole fails every request.
 */
public interface NativeQueue {

    /** Returns how many requests may be queued or in flight at once; tags are 0 to {@code depth() - 1}. */
    int depth();

    /**
     * Takes a request, and submits it to the device now or at the next {@link #turn}. Neither blocks nor ends the
     * request: even one that is done at once is completed by {@code turn}.
     *
     * @param request owned by the queue until it has completed or failed it
     */
    void enqueue(Request request);

    /**
     * Asks the device to cancel a request in flight. Whatever the result, the request is still completed or failed, and
     * only that frees the memory (rules 102, 201).
     */
    void cancel(Request request);

    /**
     * Submits queued requests to the device in as few native calls as possible, and completes or fails requests that
     * have ended. Does not wait once it has ended one: the I/O queue handles what follows without being woken.
     *
     * @param waitNanos how long to wait if nothing has ended: 0 not at all, negative until a request has ended or the
     *     I/O queue is woken. A wait between {@link Wakeup#begin} and {@link Wakeup#end} must be ended by a wake
     */
    void turn(long waitNanos);

    /**
     * Returns the wakeup that ends a waiting {@link #turn}, or keeps the next one from waiting; always the same object.
     * Any thread.
     */
    Wakeup wakeup();

    /**
     * Returns into how many requests a large read should be cut at least: as many as the queue would execute at the
     * same time, if it has nothing else to do; otherwise 1, since more requests would only cost more.
     */
    default int idleParallelism() {
        return 1;
    }

    /** Returns how many requests the queue executes at the same time; with more in flight, other queues are faster. */
    default int parallelism() {
        return depth();
    }

    /** Returns how many requests of one {@linkplain NativeFile#lane lane} it should have at most. */
    default int laneDepth() {
        return Math.max(1, parallelism() / 2);
    }

    /** Returns how many of its staging buffers requests hold or have reserved. Any thread. */
    default int stagingBuffersInUse() {
        return 0;
    }

    /**
     * Returns what each of its staging buffers is used for, in an order that does not change; empty if requests need
     * none. Any thread.
     */
    default List<StagingState> stagingStates() {
        return List.of();
    }

    /** Stops the queue and frees its resources; no request is in flight. */
    void close();
}
