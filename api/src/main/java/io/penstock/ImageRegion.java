// SPDX-License-Identifier: Apache-2.0
package io.penstock;

import java.util.Objects;

/**
 * A box of texels of a device image, filled from tightly packed or pitched rows of a file.
 *
 * @param image the device's handle of the image (GL texture name, ID3D11Texture, cl_mem)
 * @param level the mipmap level
 * @param origin the first texel
 * @param extent the texels in each direction, each at least 1
 * @param layout the layout of the texels in the file
 */
public record ImageRegion(long image, int level, Texels origin, Texels extent, Layout layout) implements Target {

    public ImageRegion {
        Objects.requireNonNull(layout, "layout");
        if (level < 0 || origin.x < 0 || origin.y < 0 || origin.z < 0) {
            throw new IllegalArgumentException("level and origin must be at least 0, were " + level + " and " + origin);
        }
        if (extent.x < 1 || extent.y < 1 || extent.z < 1) {
            throw new IllegalArgumentException("extent must be at least 1 texel in each dimension, was " + extent);
        }
        if (layout.texelBytes < 1
                || layout.rowPitch < (long) extent.x * layout.texelBytes
                || layout.slicePitch / extent.y < layout.rowPitch) {
            throw new IllegalArgumentException("pitches of " + layout + " are too small for " + extent);
        }
        if (layout.slicePitch > Long.MAX_VALUE / extent.z) {
            throw new IllegalArgumentException("pitches of " + layout + " are too large for " + extent);
        }
    }

    @Override
    public long length() {
        return layout.slicePitch * extent.z;
    }

    /** A position or size in texels. */
    public record Texels(int x, int y, int z) {}

    /**
     * The layout of texels in the file.
     *
     * @param format the number of the format in the device API
     * @param texelBytes the bytes of one texel
     * @param rowPitch the bytes from one row to the next
     * @param slicePitch the bytes from one slice to the next
     */
    public record Layout(int format, int texelBytes, long rowPitch, long slicePitch) {}
}
