// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.dx11.ffi;

/** {@code IDXGIDevice}, which every Direct3D 11 device has. */
public final class DxgiDevice {

    /** Where its methods are. */
    public static final Vtable TABLE = Vtable.of("IDXGIDevice", "54ec77fa-1377-44e6-8c32-88fd5f44c84c", "GetAdapter=7");

    static {
        TABLE.bind(DxgiDevice.class);
    }

    private DxgiDevice() {}

    /** Gives the adapter with a reference of the caller's. */
    public static native int GetAdapter(long device, long[] adapter);
}
