// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.cufile.fakes;

import com.sun.jna.Native;
import com.sun.jna.NativeLibrary;
import com.sun.jna.Pointer;

/** The fake of libcuda as the tests of the fakes call it, without the bindings that are tested with it. */
final class CudaAbi {

    static {
        Native.register(CudaAbi.class, NativeLibrary.getInstance(Fakes.libcuda().toString()));
    }

    private CudaAbi() {}

    static native int cuInit(int flags);

    static native int cuDeviceGetCount(int[] count);

    static native int cuDeviceGetAttribute(int[] value, int attribute, int device);

    static native int cuDevicePrimaryCtxRetain(long[] context, int device);

    static native int cuDevicePrimaryCtxRelease_v2(int device);

    static native int cuCtxSetCurrent(long context);

    static native int cuCtxSynchronize();

    static native int cuMemAlloc_v2(long[] pointer, long bytes);

    static native int cuMemFree_v2(long pointer);

    static native int cuMemGetAddressRange_v2(long[] base, long[] size, long pointer);

    static native int cuMemHostAlloc(long[] memory, long bytes, int flags);

    static native int cuMemFreeHost(Pointer memory);

    static native int cuMemHostRegister_v2(Pointer memory, long bytes, int flags);

    static native int cuMemHostUnregister(Pointer memory);

    static native int cuPointerGetAttribute(long[] data, int attribute, long pointer);

    static native int cuMemGetHandleForAddressRange(int[] fd, long pointer, long bytes, int type, long flags);

    static native int cuMemcpyHtoD_v2(long to, Pointer from, long bytes);

    static native int cuMemcpyDtoH_v2(Pointer to, long from, long bytes);

    static native int cuMemcpyHtoDAsync_v2(long to, Pointer from, long bytes, long stream);

    static native int cuMemcpyDtoHAsync_v2(Pointer to, long from, long bytes, long stream);

    static native int cuMemcpyBatchAsync_v2(
            long[] to,
            long[] from,
            long[] sizes,
            long count,
            Pointer attributes,
            long[] starts,
            long kinds,
            long stream);

    static native int cuMemsetD8Async(long to, byte value, long bytes, long stream);

    static native int cuStreamCreate(long[] stream, int flags);

    static native int cuStreamDestroy_v2(long stream);

    static native int cuStreamQuery(long stream);

    static native int cuStreamSynchronize(long stream);

    static native int cuStreamWaitEvent(long stream, long event, int flags);

    static native int cuStreamWriteValue32_v2(long stream, long pointer, int value, int flags);

    static native int cuEventCreate(long[] event, int flags);

    static native int cuEventDestroy_v2(long event);

    static native int cuEventRecord(long event, long stream);

    static native int cuEventQuery(long event);

    static native int cuModuleLoadData(long[] module, byte[] image);

    static native int cuModuleGetFunction(long[] function, long module, String name);

    static native int cuLaunchKernel(
            long function,
            int gridX,
            int gridY,
            int gridZ,
            int blockX,
            int blockY,
            int blockZ,
            int shared,
            long stream,
            Pointer parameters,
            Pointer extra);

    static native int cuGetProcAddress_v2(String name, long[] function, int version, long flags, int[] status);
}
