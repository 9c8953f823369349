// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.gl;

import io.penstock.ImageRegion;
import io.penstock.backend.gl.ffi.Gl;
import io.penstock.backend.gl.ffi.GlTextures;

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
     * @param offset of the first in the region, where a row begins
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

    /** Cuts rows that follow each other into boxes: whole slices, whole rows, a part of a row. */
    private static final class Boxes {

        private final GlImage image;
        private final ImageRegion region;
        private final ImageRegion.Layout layout;
        private final ImageRegion.Texels extent;
        private final long base; // of the region's first byte in the buffer, if that had it
        private final int dimensions;
        private final boolean evenRows; // that GL can step over by itself
        private final boolean evenSlices;

        Boxes(GlImage image, long base) {
            this.image = image;
            this.region = image.region();
            this.layout = region.layout();
            this.extent = region.extent();
            this.base = base;
            this.dimensions = dimensions((int) region.image());
            this.evenRows = layout.rowPitch() % layout.texelBytes() == 0;
            this.evenSlices = evenRows && layout.slicePitch() % layout.rowPitch() == 0;
            if (evenRows) {
                GlTextures.glPixelStorei(
                        GlTextures.GL_UNPACK_ROW_LENGTH, (int) (layout.rowPitch() / layout.texelBytes()));
            }
            if (evenSlices) {
                GlTextures.glPixelStorei(
                        GlTextures.GL_UNPACK_IMAGE_HEIGHT, (int) (layout.slicePitch() / layout.rowPitch()));
            }
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

        void copy(long from, long bytes) {
            long offset = from;
            long left = bytes;
            while (left > 0) {
                long taken = Math.min(left, box(offset, left));
                offset += taken;
                left -= taken;
            }
        }

        /** Copies the largest box that begins at an offset; answers the bytes up to the next, padding included. */
        private long box(long offset, long bytes) {
            int slice = (int) (offset / layout.slicePitch());
            long inSlice = offset % layout.slicePitch();
            int row = (int) (inSlice / layout.rowPitch());
            if (row >= extent.y()) {
                return layout.slicePitch() - inSlice;
            }
            if (inSlice == 0 && evenSlices && bytes >= layout.slicePitch()) {
                int slices = (int) (bytes / layout.slicePitch());
                fill(offset, row, slice, new ImageRegion.Texels(extent.x(), extent.y(), slices));
                return slices * layout.slicePitch();
            }
            int rows = (int) Math.min(evenRows ? extent.y() - row : 1, bytes / layout.rowPitch());
            if (rows > 0) {
                fill(offset, row, slice, new ImageRegion.Texels(extent.x(), rows, 1));
                return rows * layout.rowPitch();
            }
            int texels = (int) Math.min(extent.x(), bytes / layout.texelBytes());
            if (texels > 0) {
                fill(offset, row, slice, new ImageRegion.Texels(texels, 1, 1));
            }
            return layout.rowPitch();
        }

        private void fill(long offset, int row, int slice, ImageRegion.Texels box) {
            int texture = (int) region.image();
            int level = region.level();
            int x = region.origin().x();
            int y = region.origin().y() + row;
            int z = region.origin().z() + slice;
            int format = image.format().format();
            int type = image.format().type();
            long at = base + offset;
            switch (dimensions) {
                case 1 -> GlTextures.glTextureSubImage1D(texture, level, x, box.x(), format, type, at);
                case 2 -> GlTextures.glTextureSubImage2D(texture, level, x, y, box.x(), box.y(), format, type, at);
                default ->
                    GlTextures.glTextureSubImage3D(
                            texture, level, x, y, z, box.x(), box.y(), box.z(), format, type, at);
            }
        }
    }
}
