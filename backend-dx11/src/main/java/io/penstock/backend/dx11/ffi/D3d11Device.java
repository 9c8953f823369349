// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.dx11.ffi;

/** {@code ID3D11Device}; free-threaded. */
public final class D3d11Device {

    /** The table of its methods. */
    public static final Vtable TABLE = Vtable.of(
            "ID3D11Device",
            "db6f6ddb-ac77-4e88-8253-819df9bbf140",
            "CreateBuffer=3 CreateQuery=24 GetCreationFlags=38 GetDeviceRemovedReason=39 GetImmediateContext=40");

    public static final int CREATE_SINGLETHREADED = 1;

    static {
        TABLE.bind(D3d11Device.class);
    }

    private D3d11Device() {}

    /**
     * Creates a buffer from {@code description}, a {@code D3D11_BUFFER_DESC}: bytes, usage, bind flags, CPU access,
     * misc flags, stride.
     */
    public static native int CreateBuffer(long device, int[] description, long initialData, long[] buffer);

    /** Creates a query from {@code description}, a {@code D3D11_QUERY_DESC}: kind, misc flags. */
    public static native int CreateQuery(long device, int[] description, long[] query);

    public static native int GetCreationFlags(long device);

    public static native int GetDeviceRemovedReason(long device);

    /** Returns the context, with a reference that the caller owns. */
    public static native void GetImmediateContext(long device, long[] context);
}
