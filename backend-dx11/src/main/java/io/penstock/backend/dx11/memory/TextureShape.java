// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.dx11.memory;

import io.penstock.ImageRegion;
import io.penstock.backend.dx11.ffi.D3d11;
import io.penstock.backend.dx11.ffi.Vtable;

/**
 * The shape of a texture.
 *
 * @param slices the depth of a three-dimensional texture; otherwise the array length
 * @param format its {@code DXGI_FORMAT}
 * @param samples per texel
 */
public record TextureShape(
        Kind kind, int width, int height, int slices, int levels, int format, int samples, int usage, int bind) {

    /** The dimensions of a texture, the most frequent first: they are tried in this order. */
    public enum Kind {
        /** {@code ID3D11Texture2D}. */
        TWO,
        /** {@code ID3D11Texture3D}. */
        THREE,
        /** {@code ID3D11Texture1D}. */
        ONE;

        /** Returns the interface of textures of this kind. */
        Vtable table() {
            return switch (this) {
                case ONE -> D3d11.TEXTURE_1D;
                case TWO -> D3d11.TEXTURE_2D;
                case THREE -> D3d11.TEXTURE_3D;
            };
        }
    }

    private static final String[] USAGES = {"DEFAULT", "IMMUTABLE", "DYNAMIC", "STAGING"};
    private static final int BIND_DEPTH_STENCIL = 0x40;

    /**
     * From, to and bytes of formats whose texels are one block of memory each, without depth or stencil: dxgiformat.h
     * counts layout by layout.
     */
    private static final int[][] FORMATS = {
        {1, 4, 16}, // R32G32B32A32
        {5, 8, 12}, // R32G32B32
        {9, 14, 8}, // R16G16B16A16
        {15, 18, 8}, // R32G32
        {23, 38, 4}, // R10G10B10A2, R11G11B10, R8G8B8A8, R16G16
        {39, 39, 4}, // R32_TYPELESS
        {41, 43, 4}, // R32
        {48, 54, 2}, // R8G8, R16_TYPELESS, R16_FLOAT
        {56, 59, 2}, // R16
        {60, 65, 1}, // R8, A8
        {67, 67, 4}, // R9G9B9E5
        {85, 86, 2}, // B5G6R5, B5G5R5A1
        {87, 88, 4}, // B8G8R8A8, B8G8R8X8
        {90, 93, 4}, // their TYPELESS and SRGB
        {115, 115, 2} // B4G4R4A4
    };

    static TextureShape of(Kind kind, long texture) {
        int[] desc = new int[11];
        D3d11.GetDesc(texture, desc);
        return switch (kind) {
            case ONE -> new TextureShape(kind, desc[0], 1, desc[2], desc[1], desc[3], 1, desc[4], desc[5]);
            case TWO -> new TextureShape(kind, desc[0], desc[1], desc[3], desc[2], desc[4], desc[5], desc[7], desc[8]);
            case THREE -> new TextureShape(kind, desc[0], desc[1], desc[2], desc[3], desc[4], 1, desc[5], desc[6]);
        };
    }

    /** Returns the bytes of a texel of a {@code DXGI_FORMAT}; 0 for formats that files are not read into. */
    public static int texelBytes(int format) {
        for (int[] run : FORMATS) {
            if (format >= run[0] && format <= run[1]) {
                return run[2];
            }
        }
        return 0;
    }

    /**
     * Checks that files can be read into a region of the texture.
     *
     * @throws IllegalArgumentException if files cannot be read into it, or its texel size differs
     * @throws IndexOutOfBoundsException if the region is not inside the texture
     */
    void check(ImageRegion region) {
        String what = "the texture 0x" + Long.toHexString(region.image());
        if (usage != D3d11.USAGE_DEFAULT) {
            // The processor cannot write parts of one: mapping a dynamic texture replaces it as a whole.
            throw new IllegalArgumentException(
                    what + " is of usage " + USAGES[usage] + ": files are read into textures of usage DEFAULT");
        }
        if (samples != 1 || (bind & BIND_DEPTH_STENCIL) != 0) {
            throw new IllegalArgumentException(what + " is " + (samples != 1 ? "multisampled" : "for depth and stencil")
                    + ": Direct3D fills no part of it");
        }
        if (format != region.layout().format()) {
            throw new IllegalArgumentException(what + " is of DXGI format " + format + ", not "
                    + region.layout().format() + ": texels are copied as they are");
        }
        if (region.level() >= levels) {
            throw new IndexOutOfBoundsException(what + " has " + levels + " levels, none of number " + region.level());
        }
        ImageRegion.Texels there = size(region.level());
        ImageRegion.Texels from = region.origin();
        ImageRegion.Texels extent = region.extent();
        boolean inside = extent.x() <= there.x() - from.x()
                && extent.y() <= there.y() - from.y()
                && extent.z() <= there.z() - from.z();
        if (!inside) {
            throw new IndexOutOfBoundsException(what + " has " + there + " at level " + region.level() + ", not "
                    + extent + " from " + from + " on");
        }
    }

    /** Returns true if it has three dimensions. */
    boolean isDeep() {
        return kind == Kind.THREE;
    }

    /** Returns the size of a level in texels. */
    private ImageRegion.Texels size(int level) {
        return new ImageRegion.Texels(
                Math.max(1, width >> level),
                Math.max(1, height >> level),
                isDeep() ? Math.max(1, slices >> level) : slices);
    }
}
