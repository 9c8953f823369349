// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.hip.ffi;

import io.penstock.engine.kit.ffi.VendorLibrary;
import java.util.List;
import java.util.Set;

/**
 * HIP's table over the CUDA driver, for a hipFile that is built over cuFile: its device memory is CUDA's, and its
 * {@code hipStream_t} a CUstream. To test that library; NVIDIA's GPUs have a backend of their own.
 */
@SuppressWarnings("MissingOverride") // its native methods are the table's entries
public final class HipOverCuda extends Hip {

    private static final VendorLibrary LIBRARY =
            new VendorLibrary(HipOverCuda.class, "libcuda.so.1", List.of(), NOT_FOUND);

    /** Functions that are bound by their second version. */
    private static final Set<String> SECOND = Set.of("""
            deviceGetUuid deviceTotalMem ctxPopCurrent ctxPushCurrent devicePrimaryCtxRelease memAlloc memFree
            memGetAddressRange memHostGetDevicePointer memHostRegister memcpyDtoHAsync memcpyHtoDAsync streamDestroy
            streamWriteValue32 eventDestroy
            """.strip().split("\\s+"));

    /** Entries of HIP's that CUDA does without. */
    private static final Set<String> NOT_OF_CUDA =
            Set.of("cuCurrent", "cuGetProcAddress", "cuFileRead", "cuMemcpyKindAsync", "cuStreamGetDevice");

    /** The CUDA driver of a process, as HIP. */
    public static final HipOverCuda CUDA = new HipOverCuda();

    private HipOverCuda() {}

    /** {@inheritDoc} It is a file of libcuda. */
    @Override
    public String load(String file) {
        String driver = file.isEmpty() ? "libcuda.so.1" : file;
        String missing = load(driver, HipOverCuda::symbolOf);
        return missing.isEmpty() ? LIBRARY.symbols(HipOverCuda::symbolOf).load(driver) : missing;
    }

    private static String symbolOf(String entry) {
        return CUDA.call(entry) + (SECOND.contains(entry) ? "_v2" : "");
    }

    @Override
    public String call(String entry) {
        return entry.equals("version")
                ? "cuDriverGetVersion"
                : "cu" + Character.toUpperCase(entry.charAt(0)) + entry.substring(1);
    }

    @Override
    public Set<String> absent() {
        Set<String> absent = super.absent();
        absent.removeAll(NOT_OF_CUDA);
        return absent;
    }

    @Override
    public boolean hasFileCalls() {
        return false; // cuFile reports itself what it reaches
    }

    @Override
    public String describe(int version) {
        return "CUDA " + version / 1000 + "." + version % 1000 / 10;
    }

    @Override
    public int oldest() {
        return 11_040;
    }

    @Override
    int memoryTypeOfDevice() {
        return 2;
    }

    @Override
    public int contextOfStream(long stream, long[] context) {
        return streamGetCtx(stream, context);
    }

    @Override
    public String whyNoDmaBuf(int device) {
        return "runtime=cuda is for transfers alone";
    }

    private native int streamGetCtx(long stream, long[] context);

    public native int ctxPopCurrent(long[] context);

    public native int ctxPushCurrent(long context);

    public native int devicePrimaryCtxRelease(int device);

    public native int devicePrimaryCtxRetain(long[] context, int device);

    public native int memcpyAsync(long to, long from, long bytes, long stream);
}
