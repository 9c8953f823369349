// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.dx11.ffi;

import io.penstock.engine.spi.ffi.VendorLibrary;
import java.util.List;

/** The exports of dxgi.dll. */
public final class Dxgi {

    /** The library that exports them, loaded once per process. */
    public static final VendorLibrary LIBRARY = new VendorLibrary(Dxgi.class, "dxgi", List.of(), Hresult.E_NOINTERFACE);

    private Dxgi() {}

    public static native int CreateDXGIFactory1(byte[] id, long[] factory);
}
