// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.dx11.ffi;

/** {@code ID3D11Texture3D}. */
public final class D3d11Texture3D {

    /** The table of its methods. */
    public static final Vtable TABLE =
            Vtable.of("ID3D11Texture3D", "037e866e-f56d-4357-a8af-9dabbe6e250e", "GetDesc=10");

    static {
        TABLE.bind(D3d11Texture3D.class);
    }

    private D3d11Texture3D() {}

    /**
     * Fills {@code description}, a {@code D3D11_TEXTURE3D_DESC}: width, height, depth, mip levels, format, usage, bind
     * flags, CPU access, misc flags.
     */
    public static native void GetDesc(long texture, int[] description);
}
