// SPDX-License-Identifier: Apache-2.0
package io.penstock.renderer.opencl;

import io.penstock.Backend;
import io.penstock.DeviceBuffer;
import io.penstock.DeviceFence;
import io.penstock.renderer.opencl.ffi.OpenClCalls;
import io.penstock.renderer.volume.DevicePlace;
import io.penstock.renderer.volume.KernelQueue;
import io.penstock.renderer.volume.Kernels;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;
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
        check(error[0], "clCreateCommandQueue");
    }

    /**
     * Opens a queue in the context that a backend's memory is in.
     *
     * @throws IllegalStateException with OpenCL's error, if a call fails
     */
    public static OpenClKernels beside(Backend backend) {
        try (DeviceBuffer buffer = Objects.requireNonNull(backend.allocate(1).block())) {
            long[] context = new long[1];
            check(
                    OpenClCalls.clGetMemObjectInfo(
                            buffer.nativeHandle(), OpenClCalls.CL_MEM_CONTEXT, Long.BYTES, context, new long[1]),
                    "clGetMemObjectInfo");
            return new OpenClKernels(context[0]);
        }
    }

    private static long device(long context) {
        long[] bytes = new long[1];
        int name = OpenClCalls.CL_CONTEXT_DEVICES;
        check(OpenClCalls.clGetContextInfo(context, name, 0, null, bytes), "clGetContextInfo");
        long[] devices = new long[(int) bytes[0] / Long.BYTES];
        check(OpenClCalls.clGetContextInfo(context, name, bytes[0], devices, null), "clGetContextInfo");
        return devices[0];
    }

    @Override
    public DeviceFence fence(Backend backend) {
        check(OpenClCalls.clEnqueueMarkerWithWaitList(queue, 0, 0, value), "clEnqueueMarkerWithWaitList");
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
        check(error[0], "clCreateBuffer");
        return memory;
    }

    @Override
    public void free(long memory) {
        check(OpenClCalls.clReleaseMemObject(memory), "clReleaseMemObject");
    }

    @Override
    public void put(ByteBuffer from, long memory) {
        check(
                OpenClCalls.clEnqueueWriteBuffer(queue, memory, BLOCKING, 0, from.remaining(), from, 0, 0, 0),
                "clEnqueueWriteBuffer");
    }

    @Override
    public void get(long memory, ByteBuffer to) {
        check(
                OpenClCalls.clEnqueueReadBuffer(queue, memory, BLOCKING, 0, to.remaining(), to, 0, 0, 0),
                "clEnqueueReadBuffer");
    }

    @Override
    public long[] parameters(DevicePlace slab) {
        return new long[] {slab.memory(), slab.offset()};
    }

    @Override
    public void run(String kernel, long indices, long... arguments) {
        long handle = program.kernel(kernel);
        for (int i = 0; i < arguments.length; i++) {
            value[0] = arguments[i]; // which the driver has read when the call returns
            check(OpenClCalls.clSetKernelArg(handle, i, Long.BYTES, value), "clSetKernelArg " + i + " of " + kernel);
        }
        long[] items = {(indices + GROUP - 1) / GROUP * GROUP};
        check(
                OpenClCalls.clEnqueueNDRangeKernel(queue, handle, 1, 0, items, new long[] {GROUP}, 0, 0, 0),
                "clEnqueueNDRangeKernel of " + kernel);
        OpenClCalls.clFlush(queue);
    }

    /** Checks that a call has succeeded. */
    private static void check(int answer, String call) {
        if (answer != 0) {
            throw new IllegalStateException(call + " -> " + answer);
        }
    }

    @Override
    public void close() {
        OpenClCalls.clFinish(queue);
        OpenClCalls.clReleaseCommandQueue(queue);
        program.close();
    }

    /**
     * The kernels of {@code compose.cu}, compiled by the device's driver.
     *
     * <p><b>Threading:</b> one thread at a time.
     */
    private static final class ComposeProgram implements AutoCloseable {

        private static final int MOST_LOG_BYTES = 1 << 16;

        private final long program;
        private final Map<String, Long> kernels = new HashMap<>();

        /**
         * Compiles the kernels.
         *
         * @throws IllegalStateException with the compiler's log
         */
        ComposeProgram(long context, long device) {
            int[] error = new int[1];
            program = OpenClCalls.programOf(context, Kernels.source("compose.cu"), error);
            check(error[0], "clCreateProgramWithSource");
            int built = OpenClCalls.clBuildProgram(program, 1, new long[] {device}, options(device), 0, 0);
            if (built != 0) {
                String log = log(device);
                OpenClCalls.clReleaseProgram(program);
                throw new IllegalStateException("clBuildProgram -> " + built + ": " + log);
            }
        }

        /** The processor rounds after each operation; a device that supports it does so too. */
        private static String options(long device) {
            long[] abilities = new long[1];
            check(
                    OpenClCalls.clGetDeviceInfo(
                            device, OpenClCalls.CL_DEVICE_SINGLE_FP_CONFIG, Long.BYTES, abilities, new long[1]),
                    "clGetDeviceInfo");
            boolean exact = (abilities[0] & OpenClCalls.CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT) != 0;
            return "-cl-std=CL1.2" + (exact ? " -cl-fp32-correctly-rounded-divide-sqrt" : "");
        }

        private String log(long device) {
            byte[] log = new byte[MOST_LOG_BYTES];
            long[] bytes = new long[1];
            int result = OpenClCalls.clGetProgramBuildInfo(
                    program, device, OpenClCalls.CL_PROGRAM_BUILD_LOG, log.length, log, bytes);
            return result == 0
                    ? new String(log, 0, (int) bytes[0], StandardCharsets.UTF_8).strip()
                    : "no log: " + result;
        }

        long kernel(String name) {
            return kernels.computeIfAbsent(name, wanted -> {
                int[] error = new int[1];
                long kernel = OpenClCalls.clCreateKernel(program, wanted, error);
                check(error[0], "clCreateKernel of " + wanted);
                return kernel;
            });
        }

        @Override
        public void close() {
            kernels.values().forEach(OpenClCalls::clReleaseKernel);
            OpenClCalls.clReleaseProgram(program);
        }
    }
}
