// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.spi.staging;

import io.penstock.engine.host.Slabs;
import io.penstock.engine.spi.DeviceMemory;
import io.penstock.engine.spi.NativeFailure;
import io.penstock.engine.spi.Request;

/**
 * A device that is fed through slots: memory that both the host's I/O and the device reach.
 *
 * <p><b>Threading:</b> {@link #allocateSlot} on any thread; {@link #copy}, {@link #poll} and {@link #await} on executor
 * threads only, as {@link #threads()} says.
 *
 * <p><b>Errors:</b> a copy that cannot be started, or does not succeed, fails its request. After a failure of kind
 * {@link NativeFailure.Kind#LOST}, or an exception from {@link #copy}, {@link #poll} or {@link #await}, the device counts as
 * lost: no further copy is started, and copies under way are polled until they end.
 */
public interface StagingDevice {

    /** Returns which threads may copy. */
    ThreadRule threads();

    /**
     * Allocates a slot whose {@link DeviceMemory#hostAddress()} is not 0 and a multiple of 4096. Plain host memory unless
     * overridden.
     *
     * @throws io.penstock.TransientStorageException if there is no memory left
     */
    default DeviceMemory allocateSlot(long bytes) {
        return Slabs.shared().allocate(bytes);
    }

    /**
     * Starts a copy between a slot and the device. One that has a {@link Request#point} joins it; the caller runs
     * {@link Request#inOrder()} when this has returned. May end the copy at once. A copy that fails here must not touch slot
     * and memory after that.
     *
     * @param copy a COPY_IN or a COPY_OUT; the device's until it has ended it
     */
    void copy(Request copy);

    /**
     * Completes or fails a copy if it has ended; does not block. Not called after its end, and so never for a device whose
     * {@link #copy} ends every copy, which need not override it.
     */
    default void poll(Request copy) {
        throw new IllegalStateException("copy() has ended no copy, and poll() is not overridden");
    }

    /**
     * As {@link #poll}, but waits up to about {@code nanos} for the end. Called only by fused fillers
     * ({@link ThreadRule#MANY}), which serve other devices too; the bound keeps a device that hangs from blocking them. Does
     * not wait unless overridden.
     */
    default void await(Request copy, long nanos) {
        poll(copy);
    }
}
