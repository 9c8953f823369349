// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.dx11.ffi;

/** {@code ID3D11Device5}: fences, since Windows 10 1703. */
public final class D3d11Device5 {

    /** The table of its methods. */
    public static final Vtable TABLE =
            Vtable.of("ID3D11Device5", "8ffde202-a0e7-45df-9e01-e837801b5ea0", "CreateFence=68");

    static {
        TABLE.bind(D3d11Device5.class);
    }

    private D3d11Device5() {}

    public static native int CreateFence(long device, long initialValue, int flags, byte[] id, long[] fence);
}
