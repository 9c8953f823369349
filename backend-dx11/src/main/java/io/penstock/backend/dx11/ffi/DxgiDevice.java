// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.dx11.ffi;

/** {@code IDXGIDevice}, implemented by every Direct3D 11 device. */
public final class DxgiDevice {

    /** The table of its methods. */
    public static final Vtable TABLE = Vtable.of("IDXGIDevice", "54ec77fa-1377-44e6-8c32-88fd5f44c84c", "GetAdapter=7");

    static {
        TABLE.bind(DxgiDevice.class);
    }

    private DxgiDevice() {}

    /** Returns the adapter, with a reference that the caller owns. */
    public static native int GetAdapter(long device, long[] adapter);
}
