// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.gl;

import io.penstock.ImageRegion;
import io.penstock.engine.spi.DeviceMemory;

/**
 * A box of a texture's texels; its bytes count as they lie in a file.
 *
 * @param format of the texels in the file
 */
record GlImage(ImageRegion region, TexelFormat format) implements DeviceMemory {

    /** What the rows of any texture of GL's fit into. */
    private static final long MOST_ROW_BYTES = 256 << 10;

    /**
     * Describes one; what only GL can know, such as the texture's size, is told when it is filled.
     *
     * @throws IllegalArgumentException if texels cannot lie so in a file
     */
    static GlImage of(ImageRegion region) {
        ImageRegion.Layout layout = region.layout();
        TexelFormat format = TexelFormat.of(layout.format());
        if (format == null) {
            throw new IllegalArgumentException("0x" + Integer.toHexString(layout.format())
                    + " is no sized internal format of which files are read: GL_R8, GL_RGBA8, GL_R16F and their like");
        }
        if (format.bytes() != layout.texelBytes()) {
            throw new IllegalArgumentException(
                    "texels of " + layout.texelBytes() + " bytes, where those of the format have " + format.bytes());
        }
        if (layout.rowPitch() > MOST_ROW_BYTES) {
            throw new IllegalArgumentException("rows of " + layout.rowPitch() + " bytes, more than the "
                    + MOST_ROW_BYTES + " that a texture may have");
        }
        return new GlImage(region, format);
    }

    @Override
    public long bytes() {
        return region.length();
    }

    /** Returns GL's name of the texture. */
    @Override
    public long nativeHandle() {
        return region.image();
    }

    @Override
    public long hostAddress() {
        return 0;
    }

    @Override
    public void free() {
        // it is the application's
    }
}
