// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.spi;

/**
 * What the copies of one transfer have in common in a device's own order: where they go, and a point behind all of them
 * that other device work can wait on. Made by {@link DeviceDriver#fencePoint}; a queue finds it in
 * {@link Request#point()}, has the request's device work join it in the backend's own way, and then runs
 * {@link Request#inOrder()}.
 *
 * <p>Each method is called once at most, and none throws.
 */
public interface FencePoint {

    /**
     * Puts the point behind everything that has joined; nothing if nothing has. Called when all requests of the
     * transfer have joined or ended, by whichever thread made the last of them join, or by the lane.
     *
     * @param placed to be run, now or later and on any thread, when other work may wait on {@link #nativeHandle}
     */
    void place(Runnable placed);

    /** Returns the vendor's event or sync object once it has been placed; 0 if the device gave none. */
    long nativeHandle();

    /** Gives it back: it has been placed, the transfer has ended, and its fence is closed. Any thread. */
    void free();
}
