// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.opencl.context;

import io.penstock.backend.opencl.cl.OpenClDevice;
import io.penstock.backend.opencl.ffi.OpenCl;
import io.penstock.backend.opencl.ffi.OpenClError;
import io.penstock.engine.kit.SharedContext;
import io.penstock.engine.kit.ffi.NativeMemory;

/**
 * A command queue that carries no copies, only markers behind the copies of transfers; out of order where the device
 * allows it, so that no marker waits for another transfer's copies.
 *
 * <p><b>Threading:</b> thread-safe.
 */
final class OrderQueue implements SharedContext.Part {

    private final ClContext context;
    private long queue; // guarded by this; 0 until it is needed

    private OrderQueue(ClContext context) {
        this.context = context;
    }

    /** Returns the order queue of a context. */
    static OrderQueue of(ClContext context) {
        return context.part(OrderQueue.class, OrderQueue::new);
    }

    /**
     * Enqueues a marker behind events.
     *
     * @param waits the number of events
     * @param waitList the address of an array of them
     * @param event the address of the cell for the marker's event
     * @return an error code
     */
    synchronized int marker(int waits, long waitList, long event) {
        if (queue == 0) {
            int[] error = new int[1];
            OpenClDevice device = context.device();
            long made = OpenCl.clCreateCommandQueue(context.handle(), device.handle(), device.orderlessQueues(), error);
            if (error[0] != OpenClError.SUCCESS) {
                return error[0];
            }
            queue = made;
        }
        int marked = OpenCl.clEnqueueMarkerWithWaitList(queue, waits, waitList, event);
        int answer = marked == OpenClError.SUCCESS ? OpenCl.clFlush(queue) : marked;
        if (marked == OpenClError.SUCCESS && answer != OpenClError.SUCCESS) {
            OpenCl.clReleaseEvent(NativeMemory.view(event, Long.BYTES).getLong(0)); // it may never be signalled
        }
        return answer;
    }

    @Override
    public synchronized void close() {
        if (queue != 0) {
            OpenCl.clReleaseCommandQueue(queue);
            queue = 0;
        }
    }
}
