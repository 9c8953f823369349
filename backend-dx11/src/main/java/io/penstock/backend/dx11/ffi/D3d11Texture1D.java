// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.dx11.ffi;

/** {@code ID3D11Texture1D}. */
public final class D3d11Texture1D {

    /** The table of its methods. */
    public static final Vtable TABLE =
            Vtable.of("ID3D11Texture1D", "f8fb5c27-c6b3-4f75-a4c8-439af2ef564c", "GetDesc=10");

    static {
        TABLE.bind(D3d11Texture1D.class);
    }

    private D3d11Texture1D() {}

    /**
     * Fills {@code description}, a {@code D3D11_TEXTURE1D_DESC}: width, mip levels, array size, format, usage, bind
     * flags, CPU access, misc flags.
     */
    public static native void GetDesc(long texture, int[] description);
}
