// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.dx11.ffi;

/** {@code ID3D11DeviceContext}, the immediate one; structures are in native memory, passed by address. */
public final class D3d11Context {

    /** The table of its methods. */
    public static final Vtable TABLE = Vtable.of(
            "ID3D11DeviceContext",
            "c0bfa96c-e089-44fb-8eaf-26f8796190da",
            "Map=14 Unmap=15 End=28 GetData=29 CopySubresourceRegion=46 UpdateSubresource=48 Flush=111");

    public static final int MAP_READ_WRITE = 3;
    public static final int MAP_WRITE_DISCARD = 4;
    public static final int MAP_WRITE_NO_OVERWRITE = 5;
    public static final int GETDATA_DONOTFLUSH = 1;

    static {
        TABLE.bind(D3d11Context.class);
    }

    private D3d11Context() {}

    /** Maps, and fills {@code mapped}, a {@code D3D11_MAPPED_SUBRESOURCE}: pointer, row pitch, depth pitch. */
    public static native int Map(long context, long resource, int subresource, int kind, int flags, long mapped);

    public static native void Unmap(long context, long resource, int subresource);

    public static native void End(long context, long asynchronous);

    /** Returns S_FALSE until the query is signalled; {@code data} is a {@code BOOL}, for events. */
    public static native int GetData(long context, long asynchronous, long data, int bytes, int flags);

    /** Copies {@code box}, a {@code D3D11_BOX}: left, top, front, right, bottom, back. */
    public static native void CopySubresourceRegion(
            long context,
            long target,
            int targetSubresource,
            int x,
            int y,
            int z,
            long source,
            int sourceSubresource,
            long box);

    /** Fills {@code box} of the target, a {@code D3D11_BOX}, from memory that may be reused at once. */
    public static native void UpdateSubresource(
            long context, long target, int subresource, long box, long data, int rowPitch, int depthPitch);

    public static native void Flush(long context);
}
