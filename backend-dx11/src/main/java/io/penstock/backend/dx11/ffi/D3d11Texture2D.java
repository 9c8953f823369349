// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.dx11.ffi;

/** {@code ID3D11Texture2D}. */
public final class D3d11Texture2D {

    /** The table of its methods. */
    public static final Vtable TABLE =
            Vtable.of("ID3D11Texture2D", "6f15aaf2-d208-4e89-9ab4-489535d34f9c", "GetDesc=10");

    static {
        TABLE.bind(D3d11Texture2D.class);
    }

    private D3d11Texture2D() {}

    /**
     * Fills {@code description}, a {@code D3D11_TEXTURE2D_DESC}: width, height, mip levels, array size, format, sample
     * count, sample quality, usage, bind flags, CPU access, misc flags.
     */
    public static native void GetDesc(long texture, int[] description);
}
