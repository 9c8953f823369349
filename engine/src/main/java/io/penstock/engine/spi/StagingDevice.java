// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.spi;

/**
 * A device that is fed through slots: memory that both the host's I/O and the device reach.
 *
 * <p><b>Threading:</b> {@link #allocateSlot} on any thread; {@link #copy}, {@link #poll} and {@link #await} on executor
 * threads only, as {@link #threads()} says.
 *
 * <p><b>Errors:</b> a copy that cannot be started, or ends badly, fails its request; {@link NativeFailure.Kind#LOST}
 * says that the device takes no more. A method that throws loses the device too.
 */
public interface StagingDevice {

    /** Returns which threads may copy. */
    ThreadRule threads();

    /**
     * Allocates a slot whose {@link DeviceMemory#hostAddress()} is not 0 and a multiple of 4096.
     *
     * @throws io.penstock.TransientStorageException if there is no pinned memory left
     */
    DeviceMemory allocateSlot(long bytes);

    /**
     * Starts a copy between a slot and the device; one that has a {@link Request#point} joins it, and the caller says so
     * when this has returned. May end the copy at once; if it fails it here, the device does not touch slot and memory
     * any more.
     *
     * @param copy a COPY_IN or a COPY_OUT; the device's until it has ended it
     */
    void copy(Request copy);

    /** Looks whether a copy has ended, and completes or fails it if so; does not block. Not called after its end. */
    void poll(Request copy);

    /**
     * Waits for a copy to end, for about {@code nanos}; else as {@link #poll}. Called by fused fillers only
     * ({@link ThreadRule#MANY}), which serve other devices too: one that hangs must not keep them for ever.
     */
    void await(Request copy, long nanos);
}
