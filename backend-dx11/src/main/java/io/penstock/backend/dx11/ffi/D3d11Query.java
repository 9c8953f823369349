// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.dx11.ffi;

/** {@code ID3D11Query}. */
public final class D3d11Query {

    /** The table of its methods. */
    public static final Vtable TABLE = Vtable.of("ID3D11Query", "d6c00747-87b7-425e-b84d-44d108560afd", "GetDesc=8");

    public static final int EVENT = 0;

    static {
        TABLE.bind(D3d11Query.class);
    }

    private D3d11Query() {}

    /** Fills {@code description}, a {@code D3D11_QUERY_DESC}: kind, misc flags. */
    public static native void GetDesc(long query, int[] description);
}
