// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.gl.image;

import io.penstock.ImageRegion;
import io.penstock.engine.kit.staging.ImageBoxes;
import io.penstock.engine.spi.DeviceMemory;

/** A box of texels of a texture for one transfer; its bytes are counted in file layout. */
public final class GlImage implements DeviceMemory {

    /** Enough for a row of any GL texture: 32,768 texels of 16 bytes. */
    private static final long MOST_ROW_BYTES = 512 << 10;

    private final ImageRegion region;
    private final TexelFormat format;
    private final int rowTexels;
    private final int sliceRows;
    private final ImageBoxes boxes;

    private GlImage(ImageRegion region, TexelFormat format) {
        this.region = region;
        this.format = format;
        ImageRegion.Layout layout = region.layout();
        // GL cannot skip other pitches by itself.
        boolean evenRows = layout.rowPitch() % layout.texelBytes() == 0;
        boolean evenSlices = evenRows
                && layout.slicePitch() % layout.rowPitch() == 0
                && layout.slicePitch() / layout.rowPitch() <= Integer.MAX_VALUE;
        this.rowTexels = evenRows ? (int) (layout.rowPitch() / layout.texelBytes()) : 0;
        this.sliceRows = evenSlices ? (int) (layout.slicePitch() / layout.rowPitch()) : 0;
        this.boxes = new ImageBoxes(region, evenRows, evenSlices);
    }

    /**
     * Describes a box; what only GL reports, such as the texture's size, is checked when the box is filled.
     *
     * @throws IllegalArgumentException if the layout is not valid for these texels in a file, or GL has no such names
     */
    public static GlImage of(ImageRegion region) {
        if (region.image() != (int) region.image()) {
            throw new IllegalArgumentException(region.image() + " is not the name of a GL texture");
        }
        ImageRegion.Layout layout = region.layout();
        TexelFormat format = TexelFormat.of(layout.format());
        if (format == null) {
            throw new IllegalArgumentException("0x" + Integer.toHexString(layout.format())
                    + " is not a supported sized internal format: GL_R8, GL_RGBA8, GL_R16F and similar");
        }
        if (format.bytes() != layout.texelBytes()) {
            throw new IllegalArgumentException(
                    "texels of this format must have " + format.bytes() + " bytes, had " + layout.texelBytes());
        }
        if (layout.rowPitch() > MOST_ROW_BYTES) {
            throw new IllegalArgumentException("rows of " + layout.rowPitch() + " bytes, more than the "
                    + MOST_ROW_BYTES + " that a texture may have");
        }
        return new GlImage(region, format);
    }

    ImageRegion region() {
        return region;
    }

    /** Returns the format of the texels in the file. */
    TexelFormat format() {
        return format;
    }

    /** Returns the splitter of its bytes into boxes; used by the context's thread. */
    ImageBoxes boxes() {
        return boxes;
    }

    /** Returns the texels from one row to the next; 0 if not a whole number. */
    int rowTexels() {
        return rowTexels;
    }

    /** Returns the rows from one slice to the next; 0 if not a whole number, or too large for GL. */
    int sliceRows() {
        return sliceRows;
    }

    @Override
    public long bytes() {
        return region.length();
    }

    /** Returns the GL name of the texture. */
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
        // owned by the application
    }
}
