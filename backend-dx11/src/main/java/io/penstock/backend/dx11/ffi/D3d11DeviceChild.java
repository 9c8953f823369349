// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.dx11.ffi;

/** {@code ID3D11DeviceChild}: an object of a device. */
public final class D3d11DeviceChild {

    /** The table of its methods. */
    public static final Vtable TABLE =
            Vtable.of("ID3D11DeviceChild", "1841e5c8-16b0-489b-bcc8-44cfb0d5deae", "GetDevice=3");

    static {
        TABLE.bind(D3d11DeviceChild.class);
    }

    private D3d11DeviceChild() {}

    /** Returns the device, with a reference that the caller owns. */
    public static native void GetDevice(long child, long[] device);
}
