// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.cufile.ffi;

import io.penstock.engine.kit.ffi.VendorLibrary;
import java.util.List;
import java.util.Set;

/**
 * The CUDA driver API ({@code libcuda.so.1}), by the names that {@code cuda.h} maps its functions to.
 *
 * <p>Every function returns a {@code CUresult}, which {@link CudaError} names; a function missing from an older driver
 * returns {@link CudaError#NOT_FOUND}. None may be called before {@link #load} has succeeded.
 */
public final class Cuda {
    public static final int CU_DEVICE_ATTRIBUTE_READ_ONLY_HOST_REGISTER_SUPPORTED = 113;
    public static final int CU_DEVICE_ATTRIBUTE_DMA_BUF_SUPPORTED = 124;
    public static final int CU_MEMHOSTALLOC_PORTABLE = 1;
    public static final int CU_MEMHOSTALLOC_DEVICEMAP = 2;
    public static final int CU_MEMHOSTREGISTER_PORTABLE = 1;
    public static final int CU_MEMHOSTREGISTER_READ_ONLY = 8;
    public static final int CU_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD = 1;
    public static final int CU_MEM_ALLOC_GRANULARITY_MINIMUM = 0;
    public static final int CU_MEM_ALLOCATION_TYPE_PINNED = 1;
    public static final int CU_MEM_LOCATION_TYPE_DEVICE = 1;

    /** Bytes of a {@code CUmemAllocationProp}. */
    public static final int MEM_ALLOCATION_PROP_BYTES = 32;

    public static final int MEM_ALLOCATION_PROP_TYPE_OFFSET = 0;
    public static final int MEM_ALLOCATION_PROP_LOCATION_TYPE_OFFSET = 8;
    public static final int MEM_ALLOCATION_PROP_LOCATION_ID_OFFSET = 12;
    public static final int MEM_ALLOCATION_PROP_RDMA_CAPABLE_OFFSET = 25;

    /** Bytes of a {@code CUipcMemHandle}. */
    public static final int IPC_HANDLE_BYTES = 64;

    public static final int CU_STREAM_NON_BLOCKING = 1;
    public static final int CU_EVENT_DISABLE_TIMING = 2;

    public static final int CU_POINTER_ATTRIBUTE_CONTEXT = 1;
    public static final int CU_POINTER_ATTRIBUTE_MEMORY_TYPE = 2;
    public static final int CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL = 9;
    public static final int CU_MEMORYTYPE_DEVICE = 2;

    private static final VendorLibrary LIBRARY = new VendorLibrary(
            Cuda.class,
            "libcuda.so.1",
            List.of(
                    "/usr/lib/x86_64-linux-gnu",
                    "/usr/lib/aarch64-linux-gnu",
                    "/usr/lib64",
                    "/usr/lib64/nvidia",
                    "/usr/local/nvidia/lib64",
                    "/usr/local/cuda/compat",
                    "/usr/lib/wsl/lib"),
            CudaError.NOT_FOUND);

    private Cuda() {}

    /**
     * Loads the driver, once for the process.
     *
     * @param file the driver file, or an empty string for the usual places
     * @return why it cannot be loaded, or an empty string
     */
    public static String load(String file) {
        return LIBRARY.load(file);
    }

    /** Returns the functions that this driver does not have. */
    public static Set<String> absent() {
        return LIBRARY.absent();
    }

    /** Returns the file that the driver was loaded from; empty if it was not loaded. */
    public static String file() {
        return LIBRARY.file();
    }

    // Driver and devices.

    public static native int cuDeviceCanAccessPeer(int[] can, int device, int peer);

    public static native int cuDeviceGet(int[] device, int ordinal);

    public static native int cuDeviceGetAttribute(int[] value, int attribute, int device);

    public static native int cuDeviceGetCount(int[] count);

    public static native int cuDeviceGetName(byte[] name, int bytes, int device);

    public static native int cuDeviceGetPCIBusId(byte[] id, int bytes, int device);

    /** Fills 16 bytes. */
    public static native int cuDeviceGetUuid_v2(byte[] uuid, int device);

    public static native int cuDeviceTotalMem_v2(long[] bytes, int device);

    public static native int cuDriverGetVersion(int[] version);

    public static native int cuInit(int flags);

    // Contexts.

    public static native int cuCtxEnablePeerAccess(long peer, int flags);

    public static native int cuCtxGetCurrent(long[] context);

    public static native int cuCtxGetDevice(int[] device);

    public static native int cuCtxPopCurrent_v2(long[] context);

    public static native int cuCtxPushCurrent_v2(long context);

    public static native int cuCtxSetCurrent(long context);

    public static native int cuDevicePrimaryCtxRelease_v2(int device);

    public static native int cuDevicePrimaryCtxRetain(long[] context, int device);

    // Memory.

    public static native int cuMemAlloc_v2(long[] pointer, long bytes);

    public static native int cuMemFree_v2(long pointer);

    public static native int cuMemFreeHost(long address);

    public static native int cuMemGetAddressRange_v2(long[] base, long[] bytes, long pointer);

    /** Takes a {@code CUmemAllocationProp}, and returns the allocation granularity of that kind of memory. */
    public static native int cuMemGetAllocationGranularity(long[] bytes, byte[] properties, int which);

    public static native int cuMemGetHandleForAddressRange(
            int[] handle, long pointer, long bytes, int handleType, long flags);

    public static native int cuMemHostAlloc(long[] address, long bytes, int flags);

    public static native int cuMemHostGetDevicePointer_v2(long[] device, long address, int flags);

    public static native int cuMemHostRegister_v2(long address, long bytes, int flags);

    public static native int cuMemHostUnregister(long address);

    public static native int cuMemcpyDtoHAsync_v2(long target, long source, long bytes, long stream);

    public static native int cuMemcpyAsync(long to, long from, long bytes, long stream);

    public static native int cuMemcpyHtoDAsync_v2(long target, long source, long bytes, long stream);

    public static native int cuMemcpyPeerAsync(
            long target, long targetContext, long source, long sourceContext, long bytes, long stream);

    public static native int cuMemsetD8Async(long address, byte value, long bytes, long stream);

    public static native int cuPointerGetAttribute(long[] value, int attribute, long pointer);

    // Memory of other processes.

    public static native int cuIpcCloseMemHandle(long pointer);

    /** Fills {@link #IPC_HANDLE_BYTES} bytes. */
    public static native int cuIpcGetMemHandle(byte[] handle, long pointer);

    // Streams.

    public static native int cuStreamCreate(long[] stream, int flags);

    public static native int cuStreamDestroy_v2(long stream);

    public static native int cuStreamGetCtx(long stream, long[] context);

    public static native int cuStreamQuery(long stream);

    public static native int cuStreamSynchronize(long stream);

    public static native int cuStreamWaitEvent(long stream, long event, int flags);

    public static native int cuStreamWriteValue32_v2(long stream, long address, int value, int flags);

    // Events.

    public static native int cuEventCreate(long[] event, int flags);

    public static native int cuEventDestroy_v2(long event);

    public static native int cuEventQuery(long event);

    public static native int cuEventRecord(long event, long stream);

    public static native int cuEventSynchronize(long event);
}
