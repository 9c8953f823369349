// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.dx11;

import io.penstock.ImageRegion.Texels;
import io.penstock.backend.dx11.ffi.Com;
import io.penstock.backend.dx11.ffi.D3d11;
import io.penstock.backend.dx11.ffi.Hresult;
import io.penstock.backend.dx11.ffi.TextureCalls;
import io.penstock.backend.dx11.memory.TextureShape;
import io.penstock.engine.kit.ffi.NativeMemory;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;

/** A texture of an application's, with one reference; its levels all begin as {@link #BEFORE}. */
record Texture(long device, TextureShape.Kind kind, Texels size, int levels, int format, long handle)
        implements AutoCloseable {

    static final int R8_UNORM = 61;
    static final int R8G8B8A8_UNORM = 28;
    static final int R32G32B32_FLOAT = 6;
    static final byte BEFORE = 77;

    private static final int MAP_READ = 1;

    static Texture of(long device, TextureShape.Kind kind, Texels size, int levels, int format) {
        Texture texture =
                new Texture(device, kind, size, levels, format, create(device, kind, size, levels, format, 0));
        for (int level = 0; level < levels; level++) {
            Texels there = texture.size(level);
            ByteBuffer bytes = ByteBuffer.allocateDirect(there.x() * there.y() * there.z() * texture.texelBytes());
            for (int i = 0; i < bytes.capacity(); i++) {
                bytes.put(i, BEFORE);
            }
            texture.fill(level, bytes);
        }
        return texture;
    }

    /** Makes one of another usage than DEFAULT, which holds nothing yet. */
    static long create(long device, TextureShape.Kind kind, Texels size, int levels, int format, int usage) {
        int bind = usage == D3d11.USAGE_STAGING ? 0 : D3d11.BIND_SHADER_RESOURCE;
        int access = switch (usage) {
            case D3d11.USAGE_DYNAMIC -> D3d11.CPU_ACCESS_WRITE;
            case D3d11.USAGE_STAGING -> D3d11.CPU_ACCESS_WRITE | D3d11.CPU_ACCESS_READ;
            default -> 0;
        };
        long[] made = new long[1];
        int x = size.x();
        int y = size.y();
        int z = size.z();
        int result = switch (kind) {
            case ONE ->
                TextureCalls.CreateTexture1D(device, new int[] {x, levels, z, format, usage, bind, access, 0}, 0, made);
            case TWO ->
                TextureCalls.CreateTexture2D(
                        device, new int[] {x, y, levels, z, format, 1, 0, usage, bind, access, 0}, 0, made);
            case THREE ->
                TextureCalls.CreateTexture3D(
                        device, new int[] {x, y, z, levels, format, usage, bind, access, 0}, 0, made);
        };
        if (Hresult.failed(result)) {
            throw new AssertionError("CreateTexture of " + kind + " -> " + Hresult.describe(result));
        }
        return made[0];
    }

    private int texelBytes() {
        return TextureShape.texelBytes(format);
    }

    private Texels size(int level) {
        return new Texels(
                Math.max(1, size.x() >> level),
                Math.max(1, size.y() >> level),
                kind == TextureShape.Kind.THREE ? Math.max(1, size.z() >> level) : size.z());
    }

    private long context() {
        long[] context = new long[1];
        D3d11.GetImmediateContext(device, context);
        Com.Release(context[0]); // the device has it
        return context[0];
    }

    private int subresources() {
        return kind == TextureShape.Kind.THREE ? 1 : size.z();
    }

    private void fill(int level, ByteBuffer bytes) {
        Texels there = size(level);
        int row = there.x() * texelBytes();
        for (int slice = 0; slice < subresources(); slice++) {
            D3d11.UpdateSubresource(
                    context(), handle, level + slice * levels, 0, NativeMemory.address(bytes), row, row * there.y());
        }
    }

    /** Returns the texels of a level, tightly packed. */
    byte[] texels(int level) {
        Texels there = size(level);
        int row = there.x() * texelBytes();
        byte[] texels = new byte[row * there.y() * there.z()];
        long staging = create(device, kind, size, levels, format, D3d11.USAGE_STAGING);
        int depth = there.z() / subresources();
        for (int slice = 0; slice < subresources(); slice++) {
            int number = level + slice * levels;
            D3d11.CopySubresourceRegion(context(), staging, number, 0, 0, 0, handle, number, 0);
            read(staging, number, new int[] {row, there.y(), depth}, texels, slice * depth * there.y() * row);
        }
        Com.Release(staging);
        return texels;
    }

    /** Reads a subresource of a staging texture: rows of so many bytes, rows, slices. */
    private void read(long staging, int number, int[] extent, byte[] into, int at) {
        ByteBuffer mapped = ByteBuffer.allocateDirect(16).order(ByteOrder.nativeOrder());
        int result = D3d11.Map(context(), staging, number, MAP_READ, 0, NativeMemory.address(mapped));
        if (Hresult.failed(result)) {
            throw new AssertionError("Map -> " + Hresult.describe(result));
        }
        int to = at;
        ByteBuffer bytes = ByteBuffer.allocateDirect(extent[0]);
        for (int z = 0; z < extent[2]; z++) {
            for (int y = 0; y < extent[1]; y++) {
                long from = mapped.getLong(0) + (long) z * mapped.getInt(12) + (long) y * mapped.getInt(8);
                NativeMemory.copy(NativeMemory.address(bytes), from, extent[0]);
                bytes.get(0, into, to, extent[0]);
                to += extent[0];
            }
        }
        D3d11.Unmap(context(), staging, number);
    }

    /** Returns what it holds at first, as {@link #texels} has it. */
    byte[] before(int level) {
        Texels there = size(level);
        byte[] before = new byte[there.x() * there.y() * there.z() * texelBytes()];
        Arrays.fill(before, BEFORE);
        return before;
    }

    @Override
    public void close() {
        Com.Release(handle);
    }
}
