// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.dx11.ffi;

/** What tests call of {@code ID3D11Device} to have textures. */
public final class TextureCalls {

    /** Where its methods are. */
    static final Vtable TABLE = Vtable.of(
            "ID3D11Device",
            "db6f6ddb-ac77-4e88-8253-819df9bbf140",
            "CreateTexture1D=4 CreateTexture2D=5 CreateTexture3D=6");

    static {
        Vtable.bind(TextureCalls.class, TABLE);
    }

    private TextureCalls() {}

    public static native int CreateTexture1D(long device, int[] description, long initialData, long[] texture);

    public static native int CreateTexture2D(long device, int[] description, long initialData, long[] texture);

    public static native int CreateTexture3D(long device, int[] description, long initialData, long[] texture);
}
