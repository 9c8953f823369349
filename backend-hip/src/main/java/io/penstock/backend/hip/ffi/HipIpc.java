// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.hip.ffi;

import com.sun.jna.Structure;
import io.penstock.backend.gpu.api.DriverApi;
import io.penstock.engine.kit.ffi.VendorLibrary;
import java.util.List;

/**
 * The one function of the HIP runtime that takes a structure by value. Apart from the others, so that JNA's structures
 * are not loaded before a process opens memory of another one.
 */
final class HipIpc {

    private static final int LAZY_ENABLE_PEER_ACCESS = 1;

    private static final VendorLibrary LIBRARY =
            new VendorLibrary(HipIpc.class, "libamdhip64.so", List.of(), DriverApi.NOT_FOUND);

    /** A {@code hipIpcMemHandle_t}. */
    @Structure.FieldOrder("reserved")
    public static final class HipIpcMemHandle extends Structure implements Structure.ByValue {

        public byte[] reserved = new byte[DriverApi.IPC_HANDLE_BYTES];
    }

    private HipIpc() {}

    /** Opens memory of another process on the current device; {@code symbol} is the function's name in that library. */
    static int open(String library, String symbol, long[] pointer, byte[] handle) {
        if (!LIBRARY.symbols(unused -> symbol).load(library).isEmpty()) {
            return DriverApi.NOT_FOUND;
        }
        HipIpcMemHandle value = new HipIpcMemHandle();
        System.arraycopy(handle, 0, value.reserved, 0, handle.length);
        return openMemHandle(pointer, value, LAZY_ENABLE_PEER_ACCESS);
    }

    private static native int openMemHandle(long[] pointer, HipIpcMemHandle handle, int flags);
}
