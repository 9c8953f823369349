// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.dx11.ffi;

/** {@code IDXGIAdapter1}. */
public final class DxgiAdapter1 {

    /** The table of its methods. */
    public static final Vtable TABLE =
            Vtable.of("IDXGIAdapter1", "29038f61-3839-4626-91fd-086879011a05", "GetDesc1=10");

    static {
        TABLE.bind(DxgiAdapter1.class);
    }

    private DxgiAdapter1() {}

    /** Fills {@code description}, a {@code DXGI_ADAPTER_DESC1}. */
    public static native int GetDesc1(long adapter, byte[] description);
}
