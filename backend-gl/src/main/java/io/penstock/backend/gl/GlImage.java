// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.gl;

import io.penstock.ImageRegion;
import io.penstock.engine.spi.DeviceMemory;
import io.penstock.engine.spi.staging.ImageBoxes;

/** A box of a texture's texels for one transfer; its bytes count as they lie in a file. */
final class GlImage implements DeviceMemory {

    /** What the rows of any texture of GL's fit into. */
    private static final long MOST_ROW_BYTES = 256 << 10;

    private final ImageRegion region;
    private final TexelFormat format;
    private final int rowTexels;
    private final int sliceRows;
    private final ImageBoxes boxes;

    private GlImage(ImageRegion region, TexelFormat format) {
        this.region = region;
        this.format = format;
        ImageRegion.Layout layout = region.layout();
        // Other pitches are none that GL can step over by itself.
        boolean evenRows = layout.rowPitch() % layout.texelBytes() == 0;
        boolean evenSlices = evenRows && layout.slicePitch() % layout.rowPitch() == 0;
        this.rowTexels = evenRows ? (int) (layout.rowPitch() / layout.texelBytes()) : 0;
        this.sliceRows = evenSlices ? (int) (layout.slicePitch() / layout.rowPitch()) : 0;
        this.boxes = new ImageBoxes(region, evenRows, evenSlices);
    }

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

    ImageRegion region() {
        return region;
    }

    /** Returns the format of the texels in the file. */
    TexelFormat format() {
        return format;
    }

    /** Returns what cuts its bytes into boxes; the context's thread's. */
    ImageBoxes boxes() {
        return boxes;
    }

    /** Returns the texels from one row to the next; 0 if these are no whole ones. */
    int rowTexels() {
        return rowTexels;
    }

    /** Returns the rows from one slice to the next; 0 if these are no whole ones. */
    int sliceRows() {
        return sliceRows;
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
