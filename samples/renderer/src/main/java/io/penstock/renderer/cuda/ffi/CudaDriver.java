// SPDX-License-Identifier: Apache-2.0
package io.penstock.renderer.cuda.ffi;

import com.sun.jna.Memory;
import com.sun.jna.Native;
import com.sun.jna.NativeLibrary;
import com.sun.jna.Pointer;
import io.penstock.backend.cufile.CudaStream;
import java.nio.Buffer;

/**
 * The CUDA driver API, by the names that {@code cuda.h} maps its functions to, of the driver that the open backend has
 * loaded. Each returns a CUresult, 0 for success.
 */
public final class CudaDriver {

    public static final int CU_POINTER_ATTRIBUTE_CONTEXT = 1;
    public static final int CU_STREAM_NON_BLOCKING = 1;
    public static final int CU_EVENT_DISABLE_TIMING = 2;
    public static final int CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR = 75;
    public static final int CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR = 76;

    static {
        // The backend's own, which an option may name, or which lies where the system's loader does not look.
        Native.register(CudaDriver.class, NativeLibrary.getInstance(CudaStream.library()));
    }

    private CudaDriver() {}

    public static native int cuDeviceGetAttribute(int[] value, int attribute, int device);

    public static native int cuCtxGetDevice(int[] device);

    public static native int cuPointerGetAttribute(long[] value, int attribute, long address);

    public static native int cuCtxSetCurrent(long context);

    public static native int cuModuleLoadData(long[] module, byte[] image);

    public static native int cuModuleUnload(long module);

    public static native int cuModuleGetFunction(long[] function, long module, String name);

    private static native int cuLaunchKernel(
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

    /**
     * Launches kernels whose parameters are all 8 bytes wide; the driver has read them when a launch returns.
     *
     * <p><b>Threading:</b> one thread at a time.
     *
     * <p><b>Ownership:</b> JNA frees its two small blocks of memory with it.
     */
    public static final class KernelLaunch {

        private static final int MOST_PARAMETERS = 16;

        private final Memory values = new Memory(8L * MOST_PARAMETERS);
        private final Memory pointers = new Memory(8L * MOST_PARAMETERS);

        /** Creates an instance. */
        public KernelLaunch() {
            for (int i = 0; i < MOST_PARAMETERS; i++) {
                pointers.setPointer(8L * i, values.share(8L * i));
            }
        }

        /**
         * Launches a kernel.
         *
         * @param blocks of {@code threads} threads each
         * @return the CUresult
         */
        public int run(long function, int blocks, int threads, long stream, long... arguments) {
            values.write(0, arguments, 0, arguments.length);
            return cuLaunchKernel(function, blocks, 1, 1, threads, 1, 1, 0, stream, pointers, Pointer.NULL);
        }
    }
}
