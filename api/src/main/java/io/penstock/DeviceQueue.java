// SPDX-License-Identifier: Apache-2.0
package io.penstock;

/**
 * An in-order device queue of the application: a CUDA stream, an OpenCL command queue. Backends create it from the
 * vendor's handle; {@link Transfer#on} submits the device part of a transfer to it.
 *
 * <p><b>Ownership:</b> the application keeps ownership; the queue must live until the work submitted to it has ended.
 */
public interface DeviceQueue {

    /** Returns the vendor's handle. */
    long nativeHandle();
}
