// SPDX-License-Identifier: Apache-2.0
package io.penstock;

/**
 * An in-order queue of the application's on a device: a CUDA stream, an OpenCL command queue. Backends make these from the
 * vendor's handle; {@link Transfer#on} submits the device's part of a transfer to one.
 *
 * <p><b>Ownership:</b> the queue stays the application's, and must live until what was submitted to it has ended.
 */
public interface DeviceQueue {

    /** Returns the vendor's handle. */
    long nativeHandle();
}
