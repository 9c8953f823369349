// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.opencl;

import io.penstock.DeviceFence;
import io.penstock.DeviceQueue;
import io.penstock.PenstockException;
import io.penstock.Transfer;
import io.penstock.backend.opencl.cl.ClFence;
import io.penstock.backend.opencl.cl.Info;
import io.penstock.backend.opencl.cl.OpenClFailure;
import io.penstock.backend.opencl.ffi.OpenCl;
import io.penstock.backend.opencl.ffi.OpenClError;
import io.penstock.engine.kit.ffi.NativeMemory;
import java.lang.ref.Reference;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * A cl_command_queue of the application. Transfers and the application's kernels are ordered on it without the host in
 * between.
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
 * <p><b>Ownership:</b> the queue remains the application's. It must live until all work enqueued here has completed.
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
     * Wraps a queue; a backend {@code opencl-ssg} must be open.
     *
     * @param queue the cl_command_queue
     * @throws IllegalArgumentException if OpenCL does not know it
     * @throws IllegalStateException if no backend is open
     */
    public static OpenClQueue of(long queue) {
        library();
        try {
            Info info = Info.queue(queue);
            long properties = info.word(OpenCl.CL_QUEUE_PROPERTIES);
            boolean ordered = (properties & OpenCl.CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE) == 0;
            return new OpenClQueue(queue, info.word(OpenCl.CL_QUEUE_CONTEXT), ordered);
        } catch (PenstockException unknown) {
            throw new IllegalArgumentException(unknown.getMessage(), unknown);
        }
    }

    /**
     * Returns the file of OpenCL that the backends of this process call ({@code penstock.opencl.library}), or its name
     * for the system's loader: for an application that calls OpenCL itself.
     *
     * @throws IllegalStateException if no backend has loaded it
     */
    public static String library() {
        String file = OpenCl.LIBRARY.file();
        if (file.isEmpty()) {
            throw new IllegalStateException("OpenCL is not loaded: no backend opencl-ssg is open");
        }
        return file;
    }

    /** Returns the queue's cl_context. */
    public long context() {
        return context;
    }

    /** Returns true if the queue executes its commands in order. */
    public boolean isOrdered() {
        return ordered;
    }

    /** {@inheritDoc} The cl_command_queue. */
    @Override
    public long nativeHandle() {
        return queue;
    }

    /**
     * Returns a fence at the current tail of the queue, signalled when all work enqueued so far has completed. For
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
     * Makes later work in the queue wait, on the device, until {@code fence} is signalled.
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
