// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.dx11.ffi;

import io.penstock.engine.spi.ffi.VendorLibrary;
import java.util.List;

/** The exports of dxgi.dll. */
public final class Dxgi {

    private static final VendorLibrary LIBRARY =
            new VendorLibrary(Dxgi.class, "dxgi", List.of(), Hresult.E_NOINTERFACE);

    private Dxgi() {}

    /**
     * Loads it, once for the process.
     *
     * @param file dxgi.dll, or an empty string for the system's
     * @return why there is none, or an empty string
     */
    public static String load(String file) {
        return LIBRARY.load(file);
    }

    public static native int CreateDXGIFactory1(byte[] id, long[] factory);
}
