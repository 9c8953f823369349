// SPDX-License-Identifier: Apache-2.0
package io.penstock.renderer.opencl;

import io.penstock.Backend;
import io.penstock.DeviceBuffer;
import io.penstock.DeviceFence;
import io.penstock.renderer.opencl.ffi.OpenClCalls;
import io.penstock.renderer.volume.DevicePlace;
import io.penstock.renderer.volume.KernelQueue;
import java.nio.ByteBuffer;
import java.util.Objects;

/**
 * The application's side of OpenCL: a command queue of its own in the context of a backend's memory.
 *
 * <p><b>Threading:</b> any thread, one at a time: {@code stream}'s function is called so.
 *
 * <p><b>Ownership:</b> close it before the backend.
 */
public final class OpenClKernels implements KernelQueue {

    private static final int BLOCKING = 1;

    /** Work items of one group: supported by every device, and few enough to waste none. */
    private static final long GROUP = 64;

    private final long context;
    private final long queue;
    private final ComposeProgram program;
    private final int[] error = new int[1];
    private final long[] value = new long[1];

    private OpenClKernels(long context) {
        this.context = context;
        long device = device(context);
        program = new ComposeProgram(context, device);
        queue = OpenClCalls.clCreateCommandQueue(context, device, 0, error);
        Answers.check(error[0], "clCreateCommandQueue");
    }

    /**
     * Opens a queue in the context that a backend's memory is in.
     *
     * @throws IllegalStateException with OpenCL's error, if a call fails
     */
    public static OpenClKernels beside(Backend backend) {
        try (DeviceBuffer buffer = Objects.requireNonNull(backend.allocate(1).block())) {
            long[] context = new long[1];
            Answers.check(
                    OpenClCalls.clGetMemObjectInfo(
                            buffer.nativeHandle(), OpenClCalls.CL_MEM_CONTEXT, Long.BYTES, context, new long[1]),
                    "clGetMemObjectInfo");
            return new OpenClKernels(context[0]);
        }
    }

    private static long device(long context) {
        long[] bytes = new long[1];
        int name = OpenClCalls.CL_CONTEXT_DEVICES;
        Answers.check(OpenClCalls.clGetContextInfo(context, name, 0, null, bytes), "clGetContextInfo");
        long[] devices = new long[(int) bytes[0] / Long.BYTES];
        Answers.check(OpenClCalls.clGetContextInfo(context, name, bytes[0], devices, null), "clGetContextInfo");
        return devices[0];
    }

    @Override
    public DeviceFence fence(Backend backend) {
        Answers.check(OpenClCalls.clEnqueueMarkerWithWaitList(queue, 0, 0, value), "clEnqueueMarkerWithWaitList");
        long event = value[0];
        try {
            return backend.fence(event); // which flushes the queue
        } finally {
            OpenClCalls.clReleaseEvent(event);
        }
    }

    @Override
    public long allocate(long bytes) {
        long memory = OpenClCalls.clCreateBuffer(context, OpenClCalls.CL_MEM_READ_WRITE, bytes, 0, error);
        Answers.check(error[0], "clCreateBuffer");
        return memory;
    }

    @Override
    public void free(long memory) {
        Answers.check(OpenClCalls.clReleaseMemObject(memory), "clReleaseMemObject");
    }

    @Override
    public void put(ByteBuffer from, long memory) {
        Answers.check(
                OpenClCalls.clEnqueueWriteBuffer(queue, memory, BLOCKING, 0, from.remaining(), from, 0, 0, 0),
                "clEnqueueWriteBuffer");
    }

    @Override
    public void get(long memory, ByteBuffer to) {
        Answers.check(
                OpenClCalls.clEnqueueReadBuffer(queue, memory, BLOCKING, 0, to.remaining(), to, 0, 0, 0),
                "clEnqueueReadBuffer");
    }

    @Override
    public void show(DevicePlace slab, String kernel, long indices, long... arguments) {
        long[] all = new long[arguments.length + 2];
        all[0] = arguments[0];
        all[1] = slab.memory();
        all[2] = slab.offset();
        System.arraycopy(arguments, 1, all, 3, arguments.length - 1);
        run(kernel, indices, all);
    }

    @Override
    public void run(String kernel, long indices, long... arguments) {
        long handle = program.kernel(kernel);
        for (int i = 0; i < arguments.length; i++) {
            value[0] = arguments[i]; // which the driver has read when the call returns
            Answers.check(
                    OpenClCalls.clSetKernelArg(handle, i, Long.BYTES, value), "clSetKernelArg " + i + " of " + kernel);
        }
        long[] items = {(indices + GROUP - 1) / GROUP * GROUP};
        Answers.check(
                OpenClCalls.clEnqueueNDRangeKernel(queue, handle, 1, 0, items, new long[] {GROUP}, 0, 0, 0),
                "clEnqueueNDRangeKernel of " + kernel);
        OpenClCalls.clFlush(queue);
    }

    @Override
    public void close() {
        OpenClCalls.clFinish(queue);
        OpenClCalls.clReleaseCommandQueue(queue);
        program.close();
    }
}
