// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.dx11.ffi;

/** {@code ID3D11Texture1D}, {@code ID3D11Texture2D} and {@code ID3D11Texture3D}, whose tables differ by name only. */
public final class D3d11Texture {

    public static final Vtable ONE = table("ID3D11Texture1D", "f8fb5c27-c6b3-4f75-a4c8-439af2ef564c");
    public static final Vtable TWO = table("ID3D11Texture2D", "6f15aaf2-d208-4e89-9ab4-489535d34f9c");
    public static final Vtable THREE = table("ID3D11Texture3D", "037e866e-f56d-4357-a8af-9dabbe6e250e");

    static {
        ONE.bind(D3d11Texture.class);
    }

    private D3d11Texture() {}

    private static Vtable table(String name, String id) {
        return Vtable.of(name, id, "GetDesc=10");
    }

    /**
     * Fills {@code description}, by the texture's kind.
     *
     * <ul>
     *   <li>{@code D3D11_TEXTURE1D_DESC}: width, mip levels, array size, format, usage, bind flags, CPU access, misc
     *       flags
     *   <li>{@code D3D11_TEXTURE2D_DESC}: width, height, mip levels, array size, format, sample count, sample quality,
     *       usage, bind flags, CPU access, misc flags
     *   <li>{@code D3D11_TEXTURE3D_DESC}: width, height, depth, mip levels, format, usage, bind flags, CPU access, misc
     *       flags
     * </ul>
     */
    public static native void GetDesc(long texture, int[] description);
}
