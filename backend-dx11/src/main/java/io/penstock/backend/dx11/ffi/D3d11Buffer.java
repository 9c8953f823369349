// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.dx11.ffi;

/** {@code ID3D11Buffer}. */
public final class D3d11Buffer {

    /** The table of its methods. */
    public static final Vtable TABLE = Vtable.of("ID3D11Buffer", "48570b85-d1ee-4fcd-a250-eb350722b037", "GetDesc=10");

    public static final int USAGE_DEFAULT = 0;
    public static final int USAGE_IMMUTABLE = 1;
    public static final int USAGE_DYNAMIC = 2;
    public static final int USAGE_STAGING = 3;

    public static final int BIND_CONSTANT_BUFFER = 4;
    public static final int BIND_SHADER_RESOURCE = 8;
    public static final int CPU_ACCESS_WRITE = 0x10000;
    public static final int CPU_ACCESS_READ = 0x20000;
    public static final int MISC_ALLOW_RAW_VIEWS = 0x20;

    static {
        TABLE.bind(D3d11Buffer.class);
    }

    private D3d11Buffer() {}

    /**
     * Fills {@code description}, a {@code D3D11_BUFFER_DESC}: bytes, usage, bind flags, CPU access, misc flags, stride.
     */
    public static native void GetDesc(long buffer, int[] description);
}
