// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.gl;

import io.penstock.ImageRegion;
import io.penstock.backend.gl.ffi.Gl;
import io.penstock.backend.gl.ffi.GlTextures;
import io.penstock.engine.staging.ImageBoxes;

/**
 * Fills textures from buffers: pixel-unpack transfers, by the texture's name. The context may be the application's, so
 * that what says how pixels lie is put back.
 *
 * <p><b>Threading:</b> the thread of the context; nothing is looked at that {@code glGetError} tells.
 */
final class TextureCopies {

    /** What of the state of a context says how pixels lie in memory. */
    private static final int[] UNPACK = {
        GlTextures.GL_UNPACK_SWAP_BYTES,
        GlTextures.GL_UNPACK_LSB_FIRST,
        GlTextures.GL_UNPACK_ROW_LENGTH,
        GlTextures.GL_UNPACK_SKIP_ROWS,
        GlTextures.GL_UNPACK_SKIP_PIXELS,
        GlTextures.GL_UNPACK_ALIGNMENT,
        GlTextures.GL_UNPACK_SKIP_IMAGES,
        GlTextures.GL_UNPACK_IMAGE_HEIGHT
    };

    private final int[] before = new int[UNPACK.length];
    private final int[] value = new int[1];

    /**
     * Fills some rows.
     *
     * @param buffer that has them, from {@code at} on
     * @param offset of the first in the region, where a texel begins
     * @param bytes the last row may be a part of one: the file ends there
     */
    void copy(int buffer, long at, GlImage image, long offset, long bytes) {
        Gl.glGetIntegerv(GlTextures.GL_PIXEL_UNPACK_BUFFER_BINDING, value);
        int bound = value[0];
        for (int i = 0; i < UNPACK.length; i++) {
            Gl.glGetIntegerv(UNPACK[i], value);
            before[i] = value[0];
            GlTextures.glPixelStorei(UNPACK[i], UNPACK[i] == GlTextures.GL_UNPACK_ALIGNMENT ? 1 : 0);
        }
        Gl.glBindBuffer(GlTextures.GL_PIXEL_UNPACK_BUFFER, buffer);
        new Boxes(image, at - offset).copy(offset, bytes);
        Gl.glBindBuffer(GlTextures.GL_PIXEL_UNPACK_BUFFER, bound);
        for (int i = 0; i < UNPACK.length; i++) {
            GlTextures.glPixelStorei(UNPACK[i], before[i]);
        }
    }

    /** The boxes that rows which follow each other are cut into. */
    private static final class Boxes {

        private final GlImage image;
        private final ImageRegion region;
        private final long base; // of the region's first byte in the buffer, if that had it
        private final int dimensions;
        private final ImageBoxes boxes;

        Boxes(GlImage image, long base) {
            this.image = image;
            this.region = image.region();
            this.base = base;
            this.dimensions = dimensions((int) region.image());
            ImageRegion.Layout layout = region.layout();
            // Other pitches are none that GL can step over by itself.
            boolean evenRows = layout.rowPitch() % layout.texelBytes() == 0;
            boolean evenSlices = evenRows && layout.slicePitch() % layout.rowPitch() == 0;
            if (evenRows) {
                GlTextures.glPixelStorei(
                        GlTextures.GL_UNPACK_ROW_LENGTH, (int) (layout.rowPitch() / layout.texelBytes()));
            }
            if (evenSlices) {
                GlTextures.glPixelStorei(
                        GlTextures.GL_UNPACK_IMAGE_HEIGHT, (int) (layout.slicePitch() / layout.rowPitch()));
            }
            this.boxes = new ImageBoxes(region, evenRows, evenSlices);
        }

        /** Returns how many coordinates a texel of the texture has; 3 where it is none, and GL says so. */
        private static int dimensions(int texture) {
            int[] target = new int[1];
            GlTextures.glGetTextureParameteriv(texture, GlTextures.GL_TEXTURE_TARGET, target);
            return switch (target[0]) {
                case GlTextures.GL_TEXTURE_1D -> 1;
                case GlTextures.GL_TEXTURE_2D, GlTextures.GL_TEXTURE_RECTANGLE, GlTextures.GL_TEXTURE_1D_ARRAY -> 2;
                default -> 3;
            };
        }

        void copy(long offset, long bytes) {
            boxes.cut(offset, bytes);
            while (boxes.next()) {
                fill();
            }
        }

        private void fill() {
            int texture = (int) region.image();
            int level = region.level();
            int x = region.origin().x() + boxes.column();
            int y = region.origin().y() + boxes.row();
            int z = region.origin().z() + boxes.slice();
            int columns = boxes.columns();
            int rows = boxes.rows();
            int format = image.format().format();
            int type = image.format().type();
            long at = base + boxes.offset();
            switch (dimensions) {
                case 1 -> GlTextures.glTextureSubImage1D(texture, level, x, columns, format, type, at);
                case 2 -> GlTextures.glTextureSubImage2D(texture, level, x, y, columns, rows, format, type, at);
                default ->
                    GlTextures.glTextureSubImage3D(
                            texture, level, x, y, z, columns, rows, boxes.slices(), format, type, at);
            }
        }
    }
}
