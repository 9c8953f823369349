// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.dx11.ffi;

import io.penstock.engine.kit.ffi.VendorLibrary;
import java.util.List;

/**
 * The interfaces of Direct3D 11, by the methods in use. A device and its fences are free-threaded; the context is the
 * immediate one, and its structures are in native memory, passed by address.
 */
public final class D3d11 {

    public static final Vtable DEVICE = Vtable.of(
            "ID3D11Device",
            "db6f6ddb-ac77-4e88-8253-819df9bbf140",
            "CreateBuffer=3 CreateQuery=24 GetCreationFlags=38 GetDeviceRemovedReason=39 GetImmediateContext=40");
    /** Fences, since Windows 10 1703, as in {@link #CONTEXT_4}. */
    public static final Vtable DEVICE_5 =
            Vtable.of("ID3D11Device5", "8ffde202-a0e7-45df-9e01-e837801b5ea0", "CreateFence=68");

    public static final Vtable DEVICE_CHILD =
            Vtable.of("ID3D11DeviceChild", "1841e5c8-16b0-489b-bcc8-44cfb0d5deae", "GetDevice=3");
    public static final Vtable BUFFER = Vtable.of("ID3D11Buffer", "48570b85-d1ee-4fcd-a250-eb350722b037", "GetDesc=10");
    public static final Vtable TEXTURE_1D =
            Vtable.of("ID3D11Texture1D", "f8fb5c27-c6b3-4f75-a4c8-439af2ef564c", "GetDesc=10");
    public static final Vtable TEXTURE_2D =
            Vtable.of("ID3D11Texture2D", "6f15aaf2-d208-4e89-9ab4-489535d34f9c", "GetDesc=10");
    public static final Vtable TEXTURE_3D =
            Vtable.of("ID3D11Texture3D", "037e866e-f56d-4357-a8af-9dabbe6e250e", "GetDesc=10");
    public static final Vtable CONTEXT = Vtable.of(
            "ID3D11DeviceContext",
            "c0bfa96c-e089-44fb-8eaf-26f8796190da",
            "Map=14 Unmap=15 End=28 GetData=29 CopySubresourceRegion=46 UpdateSubresource=48 Flush=111");
    public static final Vtable CONTEXT_4 =
            Vtable.of("ID3D11DeviceContext4", "917600da-f58c-4c33-98d8-3e15b390fa24", "Signal=147");
    public static final Vtable FENCE = Vtable.of(
            "ID3D11Fence", "affde9d1-1df7-4bb7-8a34-0f46251dab80", "GetCompletedValue=8 SetEventOnCompletion=9");
    /** Implemented by the immediate context. */
    public static final Vtable MULTITHREAD =
            Vtable.of("ID3D11Multithread", "9b7e4e00-342c-4106-a19f-4f2704f689f0", "SetMultithreadProtected=5");

    public static final int CREATE_SINGLETHREADED = 1;

    public static final int USAGE_DEFAULT = 0;
    public static final int USAGE_IMMUTABLE = 1;
    public static final int USAGE_DYNAMIC = 2;
    public static final int USAGE_STAGING = 3;

    public static final int BIND_CONSTANT_BUFFER = 4;
    public static final int BIND_SHADER_RESOURCE = 8;
    public static final int CPU_ACCESS_WRITE = 0x10000;
    public static final int CPU_ACCESS_READ = 0x20000;
    public static final int MISC_ALLOW_RAW_VIEWS = 0x20;

    public static final int MAP_READ_WRITE = 3;
    public static final int MAP_WRITE_DISCARD = 4;
    public static final int MAP_WRITE_NO_OVERWRITE = 5;
    public static final int GETDATA_DONOTFLUSH = 1;

    /** The result of {@link #GetCompletedValue} once the device is removed. */
    public static final long FENCE_LOST = -1;

    static {
        Vtable.bind(
                D3d11.class,
                DEVICE,
                DEVICE_5,
                DEVICE_CHILD,
                BUFFER,
                TEXTURE_1D,
                TEXTURE_2D,
                TEXTURE_3D,
                CONTEXT,
                CONTEXT_4,
                FENCE,
                MULTITHREAD);
    }

    private D3d11() {}

    /** The exports of d3d11.dll. */
    public static final class Exports {

        public static final int DRIVER_TYPE_UNKNOWN = 0; // as the adapter implies
        public static final int DRIVER_TYPE_WARP = 5;
        public static final int SDK_VERSION = 7;

        /** The library that exports them, loaded once per process. */
        public static final VendorLibrary LIBRARY =
                new VendorLibrary(Exports.class, "d3d11", List.of(), Hresult.E_NOINTERFACE);

        private Exports() {}

        /**
         * Creates a device, with a reference that the caller owns.
         *
         * @param featureLevel address for its level; 0 if not wanted
         * @param context address for its immediate context; 0 if not wanted
         */
        public static native int D3D11CreateDevice(
                long adapter,
                int driverType,
                long software,
                int flags,
                int[] featureLevels,
                int featureLevelCount,
                int sdkVersion,
                long[] device,
                long featureLevel,
                long context);
    }

    /** {@code ID3D11Query}, whose description is at another index than a resource's. */
    public static final class Query {

        public static final Vtable TABLE =
                Vtable.of("ID3D11Query", "d6c00747-87b7-425e-b84d-44d108560afd", "GetDesc=8");

        public static final int EVENT = 0;

        static {
            Vtable.bind(Query.class, TABLE);
        }

        private Query() {}

        /** Fills {@code description}, a {@code D3D11_QUERY_DESC}: kind, misc flags. */
        public static native void GetDesc(long query, int[] description);
    }

    /** Creates a buffer from {@code description}, as {@link #GetDesc} fills it. */
    public static native int CreateBuffer(long device, int[] description, long initialData, long[] buffer);

    /** Creates a query from {@code description}, a {@code D3D11_QUERY_DESC}: kind, misc flags. */
    public static native int CreateQuery(long device, int[] description, long[] query);

    public static native int GetCreationFlags(long device);

    public static native int GetDeviceRemovedReason(long device);

    /** Returns the context, with a reference that the caller owns. */
    public static native void GetImmediateContext(long device, long[] context);

    public static native int CreateFence(long device, long initialValue, int flags, byte[] id, long[] fence);

    /** Returns the device of an object, with a reference that the caller owns. */
    public static native void GetDevice(long child, long[] device);

    /**
     * Fills {@code description}, by the kind of the resource.
     *
     * <ul>
     *   <li>{@code D3D11_BUFFER_DESC}: bytes, usage, bind flags, CPU access, misc flags, stride
     *   <li>{@code D3D11_TEXTURE1D_DESC}: width, mip levels, array size, format, usage, bind flags, CPU access, misc
     *       flags
     *   <li>{@code D3D11_TEXTURE2D_DESC}: width, height, mip levels, array size, format, sample count, sample quality,
     *       usage, bind flags, CPU access, misc flags
     *   <li>{@code D3D11_TEXTURE3D_DESC}: width, height, depth, mip levels, format, usage, bind flags, CPU access, misc
     *       flags
     * </ul>
     */
    public static native void GetDesc(long resource, int[] description);

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

    public static native int Signal(long context, long fence, long value);

    public static native long GetCompletedValue(long fence);

    public static native int SetEventOnCompletion(long fence, long value, long event);

    /** Returns the previous setting. */
    public static native int SetMultithreadProtected(long object, int protect);
}
