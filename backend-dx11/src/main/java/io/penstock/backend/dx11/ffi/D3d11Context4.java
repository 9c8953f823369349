// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.dx11.ffi;

/** {@code ID3D11DeviceContext4}: fences, since Windows 10 1703. */
public final class D3d11Context4 {

    /** The table of its methods. */
    public static final Vtable TABLE =
            Vtable.of("ID3D11DeviceContext4", "917600da-f58c-4c33-98d8-3e15b390fa24", "Signal=147");

    static {
        TABLE.bind(D3d11Context4.class);
    }

    private D3d11Context4() {}

    public static native int Signal(long context, long fence, long value);
}
