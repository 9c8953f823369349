// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.cufile.ffi;

import com.sun.jna.Structure;
import io.penstock.backend.gpu.api.DriverApi;
import io.penstock.engine.kit.ffi.VendorLibrary;
import java.util.List;

/**
 * The one function of the CUDA driver that takes a structure by value. Apart from the others, so that JNA's
 * structures are not loaded before a process opens memory of another one.
 */
final class CudaIpc {

    public static final int CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS = 1;

    private static final VendorLibrary LIBRARY =
            new VendorLibrary(CudaIpc.class, "libcuda.so.1", List.of(), DriverApi.NOT_FOUND);

    /** A {@code CUipcMemHandle}. */
    @Structure.FieldOrder("reserved")
    public static final class CUipcMemHandle extends Structure implements Structure.ByValue {

        public byte[] reserved = new byte[DriverApi.IPC_HANDLE_BYTES];
    }

    private CudaIpc() {}

    /**
     * Opens memory of another process, in the current context.
     *
     * @param driver the file that the driver was loaded from
     * @param pointer receives the address of the allocation
     * @param handle {@link DriverApi#IPC_HANDLE_BYTES} bytes
     * @return a {@code CUresult}
     */
    static int open(String driver, long[] pointer, byte[] handle) {
        String missing = LIBRARY.load(driver);
        if (!missing.isEmpty()) {
            return DriverApi.NOT_FOUND;
        }
        CUipcMemHandle value = new CUipcMemHandle();
        System.arraycopy(handle, 0, value.reserved, 0, handle.length);
        return cuIpcOpenMemHandle_v2(pointer, value, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS);
    }

    private static native int cuIpcOpenMemHandle_v2(long[] pointer, CUipcMemHandle handle, int flags);
}
