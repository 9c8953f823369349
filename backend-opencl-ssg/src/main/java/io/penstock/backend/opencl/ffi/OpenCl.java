// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.opencl.ffi;

import io.penstock.engine.kit.ffi.Machine;
import io.penstock.engine.kit.ffi.VendorLibrary;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * OpenCL 1.2 as the loader ({@code libOpenCL.so.1}, {@code OpenCL.dll}) exports it, by the names of {@code cl.h}.
 *
 * <p>A function returns an error code, which {@link OpenClError} names, or a handle, and then writes the code to the
 * cell or array that is its last argument. A cell's address may be 0 where the vendor allows NULL. None may be called
 * before {@link #LIBRARY} is loaded.
 *
 * <p><b>Threading:</b> all are thread-safe according to the standard, except {@code clSetKernelArg}, which is not here.
 */
public final class OpenCl {
    public static final int CL_PLATFORM_VERSION = 0x0901;
    public static final int CL_PLATFORM_NAME = 0x0902;
    public static final int CL_PLATFORM_EXTENSIONS = 0x0904;

    public static final long CL_DEVICE_TYPE_CPU = 1L << 1;
    public static final long CL_DEVICE_TYPE_GPU = 1L << 2;
    public static final long CL_DEVICE_TYPE_ACCELERATOR = 1L << 3;
    public static final long CL_DEVICE_TYPE_ALL = 0xFFFFFFFFL;
    public static final int CL_DEVICE_TYPE = 0x1000;
    public static final int CL_DEVICE_MAX_MEM_ALLOC_SIZE = 0x1010;
    public static final int CL_DEVICE_GLOBAL_MEM_SIZE = 0x101F;
    public static final int CL_DEVICE_AVAILABLE = 0x1027;
    public static final int CL_DEVICE_QUEUE_PROPERTIES = 0x102A; // of queues on the host
    public static final int CL_DEVICE_NAME = 0x102B;
    public static final int CL_DEVICE_VERSION = 0x102F;
    public static final int CL_DEVICE_EXTENSIONS = 0x1030;
    public static final int CL_DEVICE_HOST_UNIFIED_MEMORY = 0x1035;

    public static final int CL_CONTEXT_REFERENCE_COUNT = 0x1080;
    public static final int CL_CONTEXT_DEVICES = 0x1081;
    public static final int CL_CONTEXT_NUM_DEVICES = 0x1083;
    public static final long CL_CONTEXT_PLATFORM = 0x1084;

    public static final int CL_QUEUE_CONTEXT = 0x1090;
    public static final int CL_QUEUE_DEVICE = 0x1091;
    public static final int CL_QUEUE_PROPERTIES = 0x1093;
    public static final long CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE = 1;
    public static final long CL_QUEUE_PROFILING_ENABLE = 1L << 1;

    public static final long CL_MEM_READ_WRITE = 1;
    public static final long CL_MEM_READ_ONLY = 1L << 2;
    public static final long CL_MEM_USE_HOST_PTR = 1L << 3;
    public static final long CL_MEM_ALLOC_HOST_PTR = 1L << 4;
    public static final long CL_MEM_COPY_HOST_PTR = 1L << 5;
    public static final long CL_MEM_HOST_READ_ONLY = 1L << 8;
    public static final long CL_MEM_HOST_NO_ACCESS = 1L << 9;
    public static final int CL_MEM_OBJECT_BUFFER = 0x10F0;
    public static final int CL_MEM_TYPE = 0x1100;
    public static final int CL_MEM_FLAGS = 0x1101;
    public static final int CL_MEM_SIZE = 0x1102;
    public static final int CL_MEM_REFERENCE_COUNT = 0x1105;
    public static final int CL_MEM_CONTEXT = 0x1106;
    public static final int CL_MEM_ASSOCIATED_MEMOBJECT = 0x1107;

    public static final long CL_MAP_READ = 1;
    public static final long CL_MAP_WRITE = 1L << 1;

    public static final int CL_EVENT_COMMAND_QUEUE = 0x11D0;
    public static final int CL_EVENT_REFERENCE_COUNT = 0x11D2;
    public static final int CL_EVENT_COMMAND_EXECUTION_STATUS = 0x11D3;
    public static final int CL_EVENT_CONTEXT = 0x11D4;

    /** Execution status; below {@link #CL_COMPLETE} the command has failed. */
    public static final int CL_COMPLETE = 0;

    /** The library that exports them, loaded once per process. */
    public static final VendorLibrary LIBRARY = new VendorLibrary(
            OpenCl.class,
            Machine.IS_LINUX ? "libOpenCL.so.1" : "OpenCL",
            List.of(
                    "/usr/lib/x86_64-linux-gnu",
                    "/usr/lib/aarch64-linux-gnu",
                    "/usr/lib64",
                    "/usr/local/cuda/lib64",
                    "/opt/rocm/lib",
                    "/opt/rocm/opencl/lib",
                    "/opt/amdgpu-pro/lib/x86_64-linux-gnu"),
            OpenClError.INVALID_OPERATION);

    private OpenCl() {}

    // Platforms and devices.

    public static native int clGetPlatformIDs(int most, long @Nullable [] platforms, int[] count);

    public static native int clGetPlatformInfo(long platform, int name, long bytes, byte[] value, long[] length);

    public static native int clGetDeviceIDs(long platform, long type, int most, long @Nullable [] devices, int[] count);

    public static native int clGetDeviceInfo(long device, int name, long bytes, byte[] value, long[] length);

    /** Returns the address of an extension function; 0 if the platform does not have it. */
    public static native long clGetExtensionFunctionAddressForPlatform(long platform, String name);

    // Contexts and queues.

    public static native long clCreateContext(
            long[] properties, int count, long[] devices, long notify, long user, int[] error);

    public static native int clRetainContext(long context);

    public static native int clReleaseContext(long context);

    public static native int clGetContextInfo(long context, int name, long bytes, byte[] value, long[] length);

    /** Deprecated since OpenCL 2.0, but in every library. */
    public static native long clCreateCommandQueue(long context, long device, long properties, int[] error);

    public static native int clReleaseCommandQueue(long queue);

    public static native int clGetCommandQueueInfo(long queue, int name, long bytes, byte[] value, long[] length);

    public static native int clFlush(long queue);

    public static native int clFinish(long queue);

    // Memory.

    public static native long clCreateBuffer(long context, long flags, long bytes, long hostPointer, int[] error);

    public static native int clRetainMemObject(long memory);

    public static native int clReleaseMemObject(long memory);

    public static native int clGetMemObjectInfo(long memory, int name, long bytes, byte[] value, long[] length);

    // Commands; waitList is the address of an array of waits events, event the address of a cell.

    public static native int clEnqueueReadBuffer(
            long queue,
            long memory,
            int blocking,
            long offset,
            long bytes,
            long address,
            int waits,
            long waitList,
            long event);

    public static native int clEnqueueWriteBuffer(
            long queue,
            long memory,
            int blocking,
            long offset,
            long bytes,
            long address,
            int waits,
            long waitList,
            long event);

    public static native int clEnqueueCopyBuffer(
            long queue,
            long source,
            long target,
            long sourceOffset,
            long targetOffset,
            long bytes,
            int waits,
            long waitList,
            long event);

    public static native int clEnqueueFillBuffer(
            long queue,
            long memory,
            long pattern,
            long patternBytes,
            long offset,
            long bytes,
            int waits,
            long waitList,
            long event);

    /** Returns the mapped address; {@code error} is the address of a cell of four bytes. */
    public static native long clEnqueueMapBuffer(
            long queue,
            long memory,
            int blocking,
            long flags,
            long offset,
            long bytes,
            int waits,
            long waitList,
            long event,
            long error);

    public static native int clEnqueueUnmapMemObject(
            long queue, long memory, long address, int waits, long waitList, long event);

    public static native int clEnqueueMarkerWithWaitList(long queue, int waits, long waitList, long event);

    public static native int clEnqueueBarrierWithWaitList(long queue, int waits, long waitList, long event);

    // Events.

    public static native long clCreateUserEvent(long context, int[] error);

    public static native int clSetUserEventStatus(long event, int status);

    public static native int clRetainEvent(long event);

    public static native int clReleaseEvent(long event);

    /** Blocks; {@code events} is the address of an array. */
    public static native int clWaitForEvents(int count, long events);

    /** Fills the cell at {@code value}; no allocation. */
    public static native int clGetEventInfo(long event, int name, long bytes, long value, long length);

    public static native int clGetEventInfo(long event, int name, long bytes, byte[] value, long @Nullable [] length);
}
