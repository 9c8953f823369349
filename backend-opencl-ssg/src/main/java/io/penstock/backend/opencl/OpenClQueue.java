// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.opencl;

import io.penstock.DeviceFence;
import io.penstock.DeviceQueue;
import io.penstock.PenstockException;
import io.penstock.Transfer;
import io.penstock.backend.opencl.ffi.OpenCl;
import io.penstock.backend.opencl.ffi.OpenClError;
import io.penstock.engine.spi.ffi.NativeMemory;
import java.lang.ref.Reference;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * A cl_command_queue of the application's, so that transfers and its kernels stand in one order without the host between
 * them.
 *
 * <pre>{@code
 * OpenClQueue queue = OpenClQueue.of(clCommandQueue);
 * backend.enqueue(read).doOnNext(queue::await);             // kernels enqueued from here on see the bytes
 * chunk.releaseAfter(queue.fence());                        // the chunk is in use until the kernels so far are done
 * backend.submit(Transfer.read(from, target).on(queue));    // the copies stand in the queue itself; not through a map
 * }</pre>
 *
 * <p><b>Threading:</b> any thread; the order of calls is the order of the queue.
 *
 * <p><b>Ownership:</b> the queue stays the application's, and must live until what was asked of it here has ended.
 */
public final class OpenClQueue implements DeviceQueue {

    private final long queue;
    private final long context;
    private final boolean ordered;

    private OpenClQueue(long queue, long context, boolean ordered) {
        this.queue = queue;
        this.context = context;
        this.ordered = ordered;
    }

    /**
     * Takes a queue; a backend {@code opencl-ssg} must be open.
     *
     * @param queue the cl_command_queue
     * @throws IllegalArgumentException if OpenCL does not know it
     * @throws IllegalStateException if no backend is open
     */
    public static OpenClQueue of(long queue) {
        if (OpenCl.file().isEmpty()) {
            throw new IllegalStateException("no backend opencl-ssg is open, and so no OpenCL loaded");
        }
        Info info = new Info(
                "the cl_command_queue 0x" + Long.toHexString(queue),
                "clGetCommandQueueInfo",
                (name, bytes, value, length) -> OpenCl.clGetCommandQueueInfo(queue, name, bytes, value, length));
        try {
            long properties = info.word(OpenCl.CL_QUEUE_PROPERTIES);
            boolean ordered = (properties & OpenCl.CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE) == 0;
            return new OpenClQueue(queue, info.word(OpenCl.CL_QUEUE_CONTEXT), ordered);
        } catch (PenstockException unknown) {
            throw new IllegalArgumentException(unknown.getMessage(), unknown);
        }
    }

    /** Returns the queue's cl_context. */
    long context() {
        return context;
    }

    /** Returns whether it runs its commands in their order. */
    boolean isOrdered() {
        return ordered;
    }

    /** {@inheritDoc} The cl_command_queue. */
    @Override
    public long nativeHandle() {
        return queue;
    }

    /**
     * Returns the point that the queue has come to: passed when everything that was put into it so far is done. For
     * {@link Transfer#after} and {@link io.penstock.Chunk#releaseAfter}; the caller, or the chunk, closes it.
     *
     * @throws io.penstock.PenstockException with the driver's answer
     */
    public DeviceFence fence() {
        ByteBuffer cell = ByteBuffer.allocateDirect(Long.BYTES).order(ByteOrder.nativeOrder());
        check(
                "clEnqueueMarkerWithWaitList",
                OpenCl.clEnqueueMarkerWithWaitList(queue, 0, 0, NativeMemory.address(cell)));
        ClFence fence = new ClFence(cell.getLong(0));
        int flushed = OpenCl.clFlush(queue);
        if (flushed != OpenClError.SUCCESS) {
            fence.close();
            check("clFlush", flushed);
        }
        return fence;
    }

    /**
     * Has whatever is put into the queue from now on wait, on the device, until it has passed {@code fence}.
     *
     * @throws IllegalArgumentException if the fence has no cl_event
     * @throws io.penstock.PenstockException with the driver's answer
     */
    public void await(DeviceFence fence) {
        long event = fence.nativeHandle();
        if (event == 0) {
            throw new IllegalArgumentException(fence + " has no cl_event: only the host can wait for it");
        }
        ByteBuffer list = ByteBuffer.allocateDirect(Long.BYTES).order(ByteOrder.nativeOrder());
        list.putLong(0, event);
        try {
            check(
                    "clEnqueueBarrierWithWaitList",
                    OpenCl.clEnqueueBarrierWithWaitList(queue, 1, NativeMemory.address(list), 0));
        } finally {
            Reference.reachabilityFence(list);
        }
    }

    private void check(String call, int answer) {
        OpenClFailure.check("a request to " + this, call, answer);
    }

    @Override
    public String toString() {
        return "cl_command_queue 0x" + Long.toHexString(queue);
    }
}
