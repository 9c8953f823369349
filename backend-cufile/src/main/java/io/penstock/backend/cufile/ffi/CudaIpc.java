// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.cufile.ffi;

import com.sun.jna.Structure;
import io.penstock.engine.kit.ffi.VendorLibrary;
import java.util.List;

/**
 * The one function of the CUDA driver that takes a structure by value. Apart from {@link Cuda}, so that JNA's
 * structures are not loaded before a process opens memory of another one.
 */
public final class CudaIpc {

    public static final int CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS = 1;

    private static final VendorLibrary LIBRARY =
            new VendorLibrary(CudaIpc.class, "libcuda.so.1", List.of(), CudaError.NOT_FOUND);

    /** A {@code CUipcMemHandle}. */
    @Structure.FieldOrder("reserved")
    public static final class CUipcMemHandle extends Structure implements Structure.ByValue {

        public byte[] reserved = new byte[Cuda.IPC_HANDLE_BYTES];
    }

    private CudaIpc() {}

    /**
     * Opens memory of another process, in the current context. {@link Cuda} must be loaded.
     *
     * @param pointer receives the address of the allocation
     * @param handle {@link Cuda#IPC_HANDLE_BYTES} bytes
     * @return a {@code CUresult}
     */
    public static int open(long[] pointer, byte[] handle) {
        String missing = LIBRARY.load(Cuda.file());
        if (!missing.isEmpty()) {
            return CudaError.NOT_FOUND;
        }
        CUipcMemHandle value = new CUipcMemHandle();
        System.arraycopy(handle, 0, value.reserved, 0, handle.length);
        return cuIpcOpenMemHandle_v2(pointer, value, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS);
    }

    private static native int cuIpcOpenMemHandle_v2(long[] pointer, CUipcMemHandle handle, int flags);
}
