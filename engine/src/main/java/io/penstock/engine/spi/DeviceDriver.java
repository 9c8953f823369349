// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.spi;

import io.penstock.Capabilities;
import io.penstock.DeviceFence;
import io.penstock.DeviceQueue;
import io.penstock.ImageRegion;
import io.penstock.Transfer;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

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
     * @throws IllegalArgumentException if the device does not know the handle, or its alignment is not sufficient; always,
     *     unless overridden
     */
    default DeviceMemory wrap(long nativeHandle, long bytes) {
        throw new IllegalArgumentException("this device cannot wrap memory, and was given handle " + nativeHandle);
    }

    /**
     * Wraps a direct ByteBuffer, which the answer holds.
     *
     * @throws IllegalArgumentException if the device cannot address host memory; always, unless overridden
     */
    default DeviceMemory wrap(ByteBuffer memory) {
        throw new IllegalArgumentException("this device cannot address host memory");
    }

    /**
     * Checks how texels lie in a file, as far as that needs no call of the device.
     *
     * @throws IllegalArgumentException if they cannot, or the device has no images
     */
    default void checkImage(ImageRegion region) {
        throw new IllegalArgumentException("this device has no images");
    }

    /**
     * Acquires a region of an image for one transfer, on the subscriber's thread. Offsets in it count from the start of the
     * region as it lies in a file. It stays valid until {@link DeviceMemory#free}, whatever the application does.
     *
     * @throws IllegalArgumentException if the device has no such image
     * @throws IndexOutOfBoundsException if the region is not inside of it
     */
    default DeviceMemory image(ImageRegion region) {
        throw new IllegalArgumentException("this device has no images");
    }

    /**
     * Wraps a native fence of the application's.
     *
     * @throws IllegalArgumentException if the device has none; always, unless overridden
     */
    default DeviceFence fence(long nativeEvent) {
        throw new IllegalArgumentException("this device has no fences, and was given " + nativeEvent);
    }

    /**
     * Returns a point for the copies of a transfer in the device's own order; no native call yet.
     *
     * @param exposed whether a fence is to be handed out behind the transfer; without, a point is needed only where the
     *     transfer is {@linkplain Transfer#on on a queue}, or comes after a fence that its copies can
     *     {@linkplain Route#awaits wait for} on the device
     * @return null where only the host can wait, and where none is needed
     * @throws IllegalArgumentException if the transfer's queue is not one of this device's
     */
    default @Nullable FencePoint fencePoint(Transfer transfer, boolean exposed) {
        return null;
    }

    /** Returns whether a queue of the application's is one that this driver makes; {@link #fencePoint} gets it then. */
    default boolean makes(DeviceQueue queue) {
        return false;
    }

    /** Returns whether a fence that the application has by another way than {@link #fence} is one of this device's. */
    default boolean makes(DeviceFence fence) {
        return false;
    }

    /** Returns whether {@code address}, which may be any pointer, is in device memory that can be exported. */
    default boolean isDeviceAddress(long address) {
        return false;
    }

    /** Closes the device; nothing of it is in use. Called once. Does nothing unless overridden. */
    default void close() {}
}
