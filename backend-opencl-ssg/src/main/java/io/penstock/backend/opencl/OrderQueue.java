// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.opencl;

import io.penstock.backend.opencl.ffi.OpenCl;
import io.penstock.backend.opencl.ffi.OpenClError;

/**
 * A command queue that carries no work, only markers behind the copies of a transfer; out of order where the device allows
 * it, so that no marker waits for another's copies.
 *
 * <p><b>Threading:</b> thread-safe.
 */
final class OrderQueue {

    private final long context;
    private final OpenClDevice device;
    private long queue; // guarded by this; 0 until it is needed

    OrderQueue(long context, OpenClDevice device) {
        this.context = context;
        this.device = device;
    }

    /**
     * Puts a marker behind events.
     *
     * @param waits how many events there are
     * @param waitList the address of an array of them
     * @param event the address of the cell for the marker's event
     * @return an error code
     */
    synchronized int marker(int waits, long waitList, long event) {
        if (queue == 0) {
            int[] error = new int[1];
            long made = OpenCl.clCreateCommandQueue(context, device.handle(), device.orderlessQueues(), error);
            if (error[0] != OpenClError.SUCCESS) {
                return error[0];
            }
            queue = made;
        }
        int marked = OpenCl.clEnqueueMarkerWithWaitList(queue, waits, waitList, event);
        return marked == OpenClError.SUCCESS ? OpenCl.clFlush(queue) : marked;
    }

    synchronized void close() {
        if (queue != 0) {
            OpenCl.clReleaseCommandQueue(queue);
            queue = 0;
        }
    }
}
