// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.dx11.ffi;

/** {@code ID3D11Multithread}, implemented by the immediate context. */
public final class D3d11Multithread {

    /** The table of its methods. */
    public static final Vtable TABLE =
            Vtable.of("ID3D11Multithread", "9b7e4e00-342c-4106-a19f-4f2704f689f0", "SetMultithreadProtected=5");

    static {
        TABLE.bind(D3d11Multithread.class);
    }

    private D3d11Multithread() {}

    /** Returns the previous setting. */
    public static native int SetMultithreadProtected(long object, int protect);
}
