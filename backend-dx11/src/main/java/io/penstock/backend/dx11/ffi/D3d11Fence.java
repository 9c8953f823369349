// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.dx11.ffi;

/** {@code ID3D11Fence}; free-threaded. */
public final class D3d11Fence {

    /** The table of its methods. */
    public static final Vtable TABLE = Vtable.of(
            "ID3D11Fence", "affde9d1-1df7-4bb7-8a34-0f46251dab80", "GetCompletedValue=8 SetEventOnCompletion=9");
    /** The result of {@link #GetCompletedValue} once the device is removed. */
    public static final long LOST = -1;

    static {
        TABLE.bind(D3d11Fence.class);
    }

    private D3d11Fence() {}

    public static native long GetCompletedValue(long fence);

    public static native int SetEventOnCompletion(long fence, long value, long event);
}
