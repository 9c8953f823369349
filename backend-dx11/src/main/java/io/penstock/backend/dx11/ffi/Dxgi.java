// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.dx11.ffi;

import io.penstock.engine.kit.ffi.VendorLibrary;
import java.util.List;

/** The interfaces of DXGI: the adapters, and the adapter of a device. */
public final class Dxgi {

    public static final Vtable FACTORY_1 =
            Vtable.of("IDXGIFactory1", "770aae78-f26f-4dba-a829-253c83d1b387", "EnumAdapters1=12");
    public static final Vtable ADAPTER_1 =
            Vtable.of("IDXGIAdapter1", "29038f61-3839-4626-91fd-086879011a05", "GetDesc1=10");
    /** Implemented by every Direct3D 11 device. */
    public static final Vtable DEVICE =
            Vtable.of("IDXGIDevice", "54ec77fa-1377-44e6-8c32-88fd5f44c84c", "GetAdapter=7");

    static {
        Vtable.bind(Dxgi.class, FACTORY_1, ADAPTER_1, DEVICE);
    }

    private Dxgi() {}

    /** The exports of dxgi.dll. */
    public static final class Exports {

        /** The library that exports them, loaded once per process. */
        public static final VendorLibrary LIBRARY =
                new VendorLibrary(Exports.class, "dxgi", List.of(), Hresult.E_NOINTERFACE);

        private Exports() {}

        public static native int CreateDXGIFactory1(byte[] id, long[] factory);
    }

    public static native int EnumAdapters1(long factory, int index, long[] adapter);

    /** Fills {@code description}, a {@code DXGI_ADAPTER_DESC1}. */
    public static native int GetDesc1(long adapter, byte[] description);

    /** Returns the adapter of a device, with a reference that the caller owns. */
    public static native int GetAdapter(long device, long[] adapter);
}
