// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.spi;

/**
 * The place of a transfer's copies in a device's own order: the queue they go to, and a point behind all of them that
 * other device work can wait on. Created by {@link DeviceDriver#fencePoint}. A queue gets it from
 * {@link Request#point()}, joins the request's device work to it as the backend defines, and then runs
 * {@link Request#inOrder()}.
 *
 * <p>Each method is called once at most, and none throws.
 */
public interface FencePoint {

    /**
     * Places the point behind everything that has joined; does nothing if nothing has. Called when all requests of the
     * transfer have joined or ended, by the thread that joined the last of them, or by the I/O queue.
     *
     * @param placed run, now or later and on any thread, when other work may wait on {@link #nativeHandle}
     */
    void place(Runnable placed);

    /** Returns the vendor's event or sync object once it has been placed; 0 if there is none. */
    long nativeHandle();

    /**
     * Frees it: it has been placed, the transfer has ended, and its fence is closed; or the transfer was refused, and
     * nothing has joined. Any thread.
     */
    void free();
}
