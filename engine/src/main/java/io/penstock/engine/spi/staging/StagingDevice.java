// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.spi.staging;

import io.penstock.engine.kit.ffi.CpuSet;
import io.penstock.engine.kit.ffi.NativeMemory;
import io.penstock.engine.kit.memory.Slabs;
import io.penstock.engine.spi.DeviceMemory;
import io.penstock.engine.spi.NativeFailure;
import io.penstock.engine.spi.Request;
import java.nio.ByteBuffer;

/**
 * A device that is reached through staging buffers: memory that both host I/O and the device can access.
 *
 * <p><b>Threading:</b> {@link #allocateStagingBuffer} on any thread; {@link #copy}, {@link #poll} and {@link #await} on
 * executor threads only, see {@link #threads()}.
 *
 * <p><b>Errors:</b> a copy that cannot be started, or does not succeed, fails its request. After a failure of kind
 * {@link NativeFailure.Kind#LOST}, or an exception from {@link #copy}, {@link #poll} or {@link #await}, the device
 * counts as lost: no further copy is started, and copies in flight are polled until they end.
 */
public interface StagingDevice {

    /** Returns which threads may copy. */
    ThreadRule threads();

    /**
     * Returns the processors near the device: on them staging workers fill its staging buffers, and
     * {@link #allocateStagingBuffer} is called, so that memory which it writes first lies on the device's NUMA node.
     * Any, unless overridden.
     */
    default CpuSet processors() {
        return CpuSet.ANY;
    }

    /**
     * Allocates a staging buffer whose {@link DeviceMemory#hostAddress()} is a multiple of 4096 and not 0. Plain host
     * memory unless overridden.
     *
     * @throws io.penstock.TransientStorageException if there is no memory left
     */
    default DeviceMemory allocateStagingBuffer(long bytes) {
        return Slabs.shared().allocate(bytes);
    }

    /**
     * Starts a copy between a staging buffer and the device. If the copy has a {@link Request#point}, joins it; the
     * caller runs {@link Request#inOrder()} after this has returned. May end the copy at once. A copy that fails here
     * must not access staging buffer or memory afterwards. A copy is whole or fails: the number of bytes that it is
     * completed with is not looked at.
     *
     * <p>A copy that has a {@link Request#source} goes from there to the memory, and does not touch the bytes of the
     * staging buffer: the copy holds it for the queue and the event that belong to it. Only if the path {@linkplain
     * io.penstock.engine.spi.IoPath#copies copies} between the two.
     *
     * @param copy a COPY_IN or a COPY_OUT; owned by the device until it has ended it
     */
    void copy(Request copy);

    /**
     * Returns the bytes of the staging buffer that a copy moves, for a device that copies by the processor. They are not
     * checked: valid until the copy has ended.
     */
    static ByteBuffer bytes(Request copy) {
        return NativeMemory.view(copy.staging().hostAddress() + copy.stagingOffset(), copy.bytes());
    }

    /**
     * Completes or fails a copy if it has ended; does not block. Not called after its end: a device whose {@link #copy}
     * ends every copy need not override it.
     */
    default void poll(Request copy) {
        throw new IllegalStateException("copy() returned without ending the copy, and poll() is not overridden");
    }

    /**
     * Returns whether copies end in the order in which they were started, the copies of all queues of an executor
     * together: it then polls none behind one that has not ended, where it would otherwise poll each. False unless
     * overridden.
     */
    default boolean endsInOrder() {
        return false;
    }

    /**
     * As {@link #poll}, but waits up to about {@code nanos} for the end. Called only by staging workers that also copy
     * ({@link ThreadRule#MANY}). They serve other devices too; the bound keeps a hung device from blocking them. Does
     * not wait unless overridden.
     */
    default void await(Request copy, long nanos) {
        poll(copy);
    }
}
