// SPDX-License-Identifier: Apache-2.0
package io.penstock.renderer.cuda.ffi;

import com.sun.jna.Native;
import com.sun.jna.NativeLibrary;
import com.sun.jna.Pointer;
import java.nio.Buffer;

/**
 * The CUDA driver API, by the names that {@code cuda.h} maps its functions to. Each returns a CUresult, 0 for success.
 */
public final class CudaDriver {

    public static final int CU_POINTER_ATTRIBUTE_CONTEXT = 1;
    public static final int CU_STREAM_NON_BLOCKING = 1;
    public static final int CU_EVENT_DISABLE_TIMING = 2;
    public static final int CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR = 75;
    public static final int CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR = 76;

    static {
        Native.register(CudaDriver.class, NativeLibrary.getInstance("libcuda.so.1"));
    }

    private CudaDriver() {}

    public static native int cuDeviceGetAttribute(int[] value, int attribute, int device);

    public static native int cuCtxGetDevice(int[] device);

    public static native int cuPointerGetAttribute(long[] value, int attribute, long address);

    public static native int cuCtxSetCurrent(long context);

    public static native int cuModuleLoadData(long[] module, byte[] image);

    public static native int cuModuleUnload(long module);

    public static native int cuModuleGetFunction(long[] function, long module, String name);

    static native int cuLaunchKernel(
            long function,
            int gridX,
            int gridY,
            int gridZ,
            int blockX,
            int blockY,
            int blockZ,
            int sharedBytes,
            long stream,
            Pointer parameters,
            Pointer extra);

    public static native int cuStreamCreate(long[] stream, int flags);

    public static native int cuStreamSynchronize(long stream);

    public static native int cuStreamDestroy_v2(long stream);

    public static native int cuEventCreate(long[] event, int flags);

    public static native int cuEventRecord(long event, long stream);

    public static native int cuEventDestroy_v2(long event);

    public static native int cuMemAlloc_v2(long[] address, long bytes);

    public static native int cuMemFree_v2(long address);

    public static native int cuMemcpyHtoDAsync_v2(long to, Buffer from, long bytes, long stream);

    public static native int cuMemcpyDtoHAsync_v2(Buffer to, long from, long bytes, long stream);

    /** Returns the driver's name of a CUresult, with its number. */
    public static String nameOf(int error) {
        long[] name = new long[1];
        return cuGetErrorName(error, name) == 0
                ? new Pointer(name[0]).getString(0) + " (" + error + ")"
                : String.valueOf(error);
    }

    private static native int cuGetErrorName(int error, long[] name);
}
