// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.spi;

import io.penstock.Capabilities;
import io.penstock.DeviceFence;
import io.penstock.DeviceQueue;
import io.penstock.ImageRegion;
import io.penstock.Transfer;
import java.net.URI;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/**
 * The memory and fences of a device.
 *
 * <p>Thread-safe; called off the I/O queues.
 */
public interface DeviceDriver {

    /** Returns what the device can do. */
    Capabilities capabilities();

    /**
     * Allocates memory.
     *
     * @throws io.penstock.TransientStorageException if the device has no memory left
     */
    DeviceMemory allocate(long bytes);

    /**
     * Wraps memory of the application; {@link DeviceMemory#free} then only ends the wrapping.
     *
     * @throws IllegalArgumentException if the handle is unknown to the device, or its alignment is insufficient;
     *     always, unless overridden
     */
    default DeviceMemory wrap(long nativeHandle, long bytes) {
        throw new IllegalArgumentException("this device cannot wrap memory, handle was " + nativeHandle);
    }

    /**
     * Returns the scheme of the URIs of memory that {@link #open} opens, in lower case; empty if it opens none.
     */
    default String scheme() {
        return "";
    }

    /**
     * Opens memory that another process exports. May block.
     *
     * @param uri of the scheme {@link #scheme()}
     * @throws io.penstock.PenstockException if it cannot be opened
     */
    default DeviceMemory open(URI uri) {
        throw new UnsupportedOperationException("this device opens no memory of other processes, the URI was " + uri);
    }

    /**
     * Wraps a direct ByteBuffer; the result keeps a reference to it.
     *
     * @throws IllegalArgumentException if the device cannot address host memory; always, unless overridden
     */
    default DeviceMemory wrap(ByteBuffer memory) {
        throw new IllegalArgumentException("this device cannot address host memory");
    }

    /**
     * Checks the layout of texels in a file, as far as possible without a device call.
     *
     * @throws IllegalArgumentException if the layout is not supported, or the device has no images
     */
    default void checkImage(ImageRegion region) {
        throw new IllegalArgumentException("this device has no images");
    }

    /**
     * Acquires a region of an image for one transfer, on the subscriber's thread. Offsets in it count from the start of
     * the region as laid out in a file. It stays valid until {@link DeviceMemory#free}, whatever the application does.
     *
     * @throws IllegalArgumentException if the device has no such image
     * @throws IndexOutOfBoundsException if the region is not inside the image
     */
    default DeviceMemory image(ImageRegion region) {
        throw new IllegalArgumentException("this device has no images");
    }

    /**
     * Wraps a native fence of the application.
     *
     * @throws IllegalArgumentException if the device has no native fences; always, unless overridden
     */
    default DeviceFence fence(long nativeEvent) {
        throw new IllegalArgumentException("this device has no fences, native event was " + nativeEvent);
    }

    /**
     * Returns a point for the copies of a transfer in the device's own order; no native call yet.
     *
     * @param exposed whether a fence will be emitted behind the transfer; if not, a point is needed only if the
     *     transfer is {@linkplain Transfer#on on a queue}, or waits for a fence that its copies can
     *     {@linkplain IoPath#awaits wait for} on the device
     * @return null if only the host can wait, or if no point is needed
     * @throws IllegalArgumentException if the transfer's queue does not belong to this device
     */
    default @Nullable FencePoint fencePoint(Transfer transfer, boolean exposed) {
        return null;
    }

    /** Returns whether this driver created the given queue; {@link #fencePoint} receives it then. */
    default boolean makes(DeviceQueue queue) {
        return false;
    }

    /** Returns whether a fence that was not created by {@link #fence} belongs to this device. */
    default boolean makes(DeviceFence fence) {
        return false;
    }

    /** Returns whether {@code address}, which may be any pointer, is in device memory that can be exported. */
    default boolean isDeviceAddress(long address) {
        return false;
    }

    /** Closes the device. Called once, when nothing of the device is in use. Does nothing unless overridden. */
    default void close() {}
}
