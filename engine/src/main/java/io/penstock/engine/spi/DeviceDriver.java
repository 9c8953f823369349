// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.spi;

import io.penstock.Capabilities;
import io.penstock.DeviceFence;
import java.nio.ByteBuffer;

/**
 * A device's memory and fences.
 *
 * <p>Thread-safe; called off the lanes.
 */
public interface DeviceDriver {

    /** Returns what the device can do. */
    Capabilities capabilities();

    /**
     * Allocates memory.
     *
     * @throws io.penstock.TransientStorageException if there is none left
     */
    DeviceMemory allocate(long bytes);

    /**
     * Wraps memory of the application's; {@link DeviceMemory#free} then ends the wrapping only.
     *
     * @throws IllegalArgumentException if the device does not know the handle, or its alignment does not do
     */
    DeviceMemory wrap(long nativeHandle, long bytes);

    /**
     * Wraps a direct ByteBuffer, which the answer holds.
     *
     * @throws IllegalArgumentException if the device cannot address host memory
     */
    DeviceMemory wrap(ByteBuffer memory);

    /**
     * Wraps a native fence of the application's.
     *
     * @throws IllegalArgumentException if the device has none
     */
    DeviceFence fence(long nativeEvent);

    /** Closes the device; nothing of it is in use. Called once. */
    void close();
}
