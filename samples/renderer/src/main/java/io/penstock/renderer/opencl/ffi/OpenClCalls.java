// SPDX-License-Identifier: Apache-2.0
package io.penstock.renderer.opencl.ffi;

import com.sun.jna.Memory;
import com.sun.jna.Native;
import com.sun.jna.NativeLibrary;
import com.sun.jna.Pointer;
import io.penstock.backend.opencl.OpenClQueue;
import java.nio.Buffer;
import org.jspecify.annotations.Nullable;

/**
 * OpenCL 1.2, of the library that the open backend has loaded. Each function returns an error code, 0 for success, or a
 * handle, with the error code in {@code error}.
 */
public final class OpenClCalls {

    public static final int CL_DEVICE_SINGLE_FP_CONFIG = 0x101B;
    public static final long CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT = 1 << 7;
    public static final int CL_CONTEXT_DEVICES = 0x1081;
    public static final long CL_MEM_READ_WRITE = 1;
    public static final int CL_MEM_CONTEXT = 0x1106;
    public static final int CL_PROGRAM_BUILD_LOG = 0x1183;

    static {
        // The backend's own, which an option may name, or which lies where the system's loader does not look.
        Native.register(OpenClCalls.class, NativeLibrary.getInstance(OpenClQueue.library()));
    }

    private OpenClCalls() {}

    public static native int clGetMemObjectInfo(long memory, int name, long bytes, long[] value, long[] length);

    public static native int clGetContextInfo(
            long context, int name, long bytes, long @Nullable [] value, long @Nullable [] length);

    public static native int clGetDeviceInfo(long device, int name, long bytes, long[] value, long[] length);

    public static native long clCreateCommandQueue(long context, long device, long properties, int[] error);

    public static native int clReleaseCommandQueue(long queue);

    public static native int clFlush(long queue);

    public static native int clFinish(long queue);

    public static native long clCreateBuffer(long context, long flags, long bytes, long host, int[] error);

    public static native int clReleaseMemObject(long memory);

    public static native int clEnqueueWriteBuffer(
            long queue,
            long memory,
            int blocking,
            long offset,
            long bytes,
            Buffer from,
            int waits,
            long waitList,
            long event);

    public static native int clEnqueueReadBuffer(
            long queue,
            long memory,
            int blocking,
            long offset,
            long bytes,
            Buffer to,
            int waits,
            long waitList,
            long event);

    public static native int clEnqueueMarkerWithWaitList(long queue, int waits, long waitList, long[] event);

    public static native int clReleaseEvent(long event);

    /** Creates a program from one source, in ASCII. */
    public static long programOf(long context, String source, int[] error) {
        try (Memory text = new Memory(source.length() + 1L)) {
            text.setString(0, source, "US-ASCII");
            return clCreateProgramWithSource(context, 1, new long[] {Pointer.nativeValue(text)}, 0, error);
        }
    }

    private static native long clCreateProgramWithSource(
            long context, int count, long[] sources, long lengths, int[] error);

    public static native int clBuildProgram(
            long program, int devices, long[] list, String options, long notify, long user);

    public static native int clGetProgramBuildInfo(
            long program, long device, int name, long bytes, byte[] value, long[] length);

    public static native int clReleaseProgram(long program);

    public static native long clCreateKernel(long program, String name, int[] error);

    public static native int clReleaseKernel(long kernel);

    public static native int clSetKernelArg(long kernel, int index, long bytes, long[] value);

    public static native int clEnqueueNDRangeKernel(
            long queue,
            long kernel,
            int dimensions,
            long offset,
            long[] items,
            long[] local,
            int waits,
            long waitList,
            long event);
}
