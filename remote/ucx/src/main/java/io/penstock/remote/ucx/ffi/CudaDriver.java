// SPDX-License-Identifier: Apache-2.0
package io.penstock.remote.ucx.ffi;

import io.penstock.engine.kit.ffi.VendorLibrary;
import java.util.List;

/**
 * What UCX leaves to its user of the CUDA driver API ({@code libcuda.so.1}), by the names of {@code cuda.h}: a current
 * context. Each function returns a {@code CUresult}. None may be called before {@link #LIBRARY} is loaded.
 */
public final class CudaDriver {

    public static final int CUDA_SUCCESS = 0;
    public static final int CUDA_ERROR_NOT_FOUND = 500;
    public static final int CU_POINTER_ATTRIBUTE_MEMORY_TYPE = 2;
    public static final int CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL = 9;
    public static final int CU_MEMORYTYPE_DEVICE = 2;

    /**
     * The driver, loaded once per process. A UCX that has memory of CUDA has loaded it before: it is found by its name.
     */
    public static final VendorLibrary LIBRARY =
            new VendorLibrary(CudaDriver.class, "libcuda.so.1", List.of(), CUDA_ERROR_NOT_FOUND);

    private CudaDriver() {}

    public static native int cuPointerGetAttribute(int[] value, int attribute, long address);

    public static native int cuDeviceGet(int[] device, int ordinal);

    public static native int cuDevicePrimaryCtxRetain(long[] context, int device);

    public static native int cuCtxGetCurrent(long[] context);

    public static native int cuCtxSetCurrent(long context);
}
