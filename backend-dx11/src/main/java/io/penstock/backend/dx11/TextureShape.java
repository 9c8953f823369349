// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.dx11;

import io.penstock.ImageRegion;
import io.penstock.backend.dx11.ffi.D3d11Buffer;

/**
 * What a texture is.
 *
 * @param slices of a texture of three dimensions its depth, of others the length of the array
 * @param format its {@code DXGI_FORMAT}
 * @param samples of each texel
 */
record TextureShape(
        TextureKind kind, int width, int height, int slices, int levels, int format, int samples, int usage, int bind) {

    private static final String[] USAGES = {"DEFAULT", "IMMUTABLE", "DYNAMIC", "STAGING"};
    private static final int BIND_DEPTH_STENCIL = 0x40;

    /**
     * Goes on if files may be read into a region of it.
     *
     * @throws IllegalArgumentException if it is none that a file is read into, or its texels are others
     * @throws IndexOutOfBoundsException if the region is not inside of it
     */
    void check(ImageRegion region) {
        String what = "the texture 0x" + Long.toHexString(region.image());
        if (usage != D3d11Buffer.USAGE_DEFAULT) {
            // The processor may write parts of none: dynamic ones are mapped to be replaced as a whole.
            throw new IllegalArgumentException(
                    what + " is of usage " + USAGES[usage] + ": files are read into regions of those of usage DEFAULT");
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

    /** Returns the texels of a level. */
    private ImageRegion.Texels size(int level) {
        return new ImageRegion.Texels(
                Math.max(1, width >> level),
                Math.max(1, height >> level),
                kind == TextureKind.THREE ? Math.max(1, slices >> level) : slices);
    }
}
