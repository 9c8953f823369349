// SPDX-License-Identifier: Apache-2.0
package io.penstock.remote.ucx;

import io.penstock.NativeError;
import io.penstock.engine.spi.NativeException;
import io.penstock.engine.spi.NativeFailure;
import io.penstock.remote.ucx.ffi.CudaDriver;
import io.penstock.remote.ucx.ffi.Ucp;
import java.util.HashMap;
import java.util.Map;

/** How UCX accesses memory that the processor does not reach, by its address. */
interface DeviceAccess {

    /** Where UCX accesses no such memory. */
    DeviceAccess NONE = new DeviceAccess() {};

    /** Returns the access of a context: to memory of CUDA, if UCX was built with it and finds a driver. */
    static DeviceAccess of(UcxContext context) {
        boolean has = (context.memoryTypes() & 1L << Ucp.UCS_MEMORY_TYPE_CUDA) != 0;
        return has && CudaDriver.LIBRARY.load("").isEmpty() ? Cuda.INSTANCE : NONE;
    }

    /** Returns UCX's number for such memory. */
    default int memoryType() {
        return Ucp.UCS_MEMORY_TYPE_HOST;
    }

    /** Returns the number of the device of such memory; negative if UCX does not access it. */
    default int device(long address) {
        return -1;
    }

    /** Prepares this thread for calls of UCX with memory of a device; returns false if it was. */
    default boolean enter(int device) throws NativeException {
        return false;
    }

    /** Undoes {@link #enter} on this thread. */
    default void exit() {}

    /**
     * Memory of CUDA. UCX copies in the context that is current on the thread of a worker, and sets none
     * ({@code uct_cuda_copy_post_cuda_async_copy}). The primary context of any device will do: addresses are unique in
     * the process.
     */
    final class Cuda implements DeviceAccess {

        static final Cuda INSTANCE = new Cuda();

        /** Primary contexts by device; retained as long as the process, as the context of UCX lasts. */
        private final Map<Integer, Long> contexts = new HashMap<>(); // guarded by this

        private Cuda() {}

        @Override
        public int memoryType() {
            return Ucp.UCS_MEMORY_TYPE_CUDA;
        }

        @Override
        public int device(long address) {
            boolean isDevice =
                    attribute(CudaDriver.CU_POINTER_ATTRIBUTE_MEMORY_TYPE, address) == CudaDriver.CU_MEMORYTYPE_DEVICE;
            return isDevice ? attribute(CudaDriver.CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, address) : -1;
        }

        /** Returns an attribute of an address; negative if CUDA does not know the address. */
        private static int attribute(int attribute, long address) {
            int[] value = new int[1];
            int result = CudaDriver.cuPointerGetAttribute(value, attribute, address);
            return result == CudaDriver.CUDA_SUCCESS ? value[0] : -1;
        }

        @Override
        public boolean enter(int device) throws NativeException {
            long[] current = new long[1];
            check("cuCtxGetCurrent", CudaDriver.cuCtxGetCurrent(current));
            if (current[0] != 0) {
                return false;
            }
            check("cuCtxSetCurrent", CudaDriver.cuCtxSetCurrent(context(device)));
            return true;
        }

        @Override
        public void exit() {
            CudaDriver.cuCtxSetCurrent(0);
        }

        private synchronized long context(int device) throws NativeException {
            Long known = contexts.get(device);
            if (known == null) {
                int[] handle = new int[1];
                long[] context = new long[1];
                check("cuDeviceGet", CudaDriver.cuDeviceGet(handle, device));
                check("cuDevicePrimaryCtxRetain", CudaDriver.cuDevicePrimaryCtxRetain(context, handle[0]));
                known = context[0];
                contexts.put(device, known);
            }
            return known;
        }

        private static void check(String call, int result) throws NativeException {
            if (result != CudaDriver.CUDA_SUCCESS) {
                NativeError error = new NativeError(call, result, "");
                throw new NativeException(call, new NativeFailure(error, NativeFailure.Kind.PERMANENT, ""));
            }
        }
    }
}
