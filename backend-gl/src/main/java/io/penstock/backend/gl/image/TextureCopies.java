// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.gl.image;

import io.penstock.ImageRegion;
import io.penstock.backend.gl.ffi.Gl;
import io.penstock.backend.gl.ffi.GlTextures;
import io.penstock.engine.kit.staging.ImageBoxes;

/**
 * Fills textures from buffers by pixel-unpack transfers, by the texture's name. The context may be the application's,
 * so the pixel-store state is restored.
 *
 * <p><b>Threading:</b> the context's thread; the methods do not check {@code glGetError}.
 */
public final class TextureCopies {

    /** The pixel-store state that describes the layout of pixels in memory. */
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
     * @param buffer the buffer with the rows, from {@code at} on
     * @param offset of the first in the region, where a texel begins
     * @param bytes the last row may be a part of one: the file ends there
     */
    public void copy(int buffer, long at, GlImage image, long offset, long bytes) {
        Gl.glGetIntegerv(GlTextures.GL_PIXEL_UNPACK_BUFFER_BINDING, value);
        int bound = value[0];
        for (int i = 0; i < UNPACK.length; i++) {
            Gl.glGetIntegerv(UNPACK[i], value);
            before[i] = value[0];
            GlTextures.glPixelStorei(UNPACK[i], unpack(UNPACK[i], image));
        }
        Gl.glBindBuffer(GlTextures.GL_PIXEL_UNPACK_BUFFER, buffer);
        fill(image, at - offset, offset, bytes);
        Gl.glBindBuffer(GlTextures.GL_PIXEL_UNPACK_BUFFER, bound);
        for (int i = 0; i < UNPACK.length; i++) {
            GlTextures.glPixelStorei(UNPACK[i], before[i]);
        }
    }

    private static int unpack(int name, GlImage image) {
        return switch (name) {
            case GlTextures.GL_UNPACK_ALIGNMENT -> 1;
            case GlTextures.GL_UNPACK_ROW_LENGTH -> image.rowTexels();
            case GlTextures.GL_UNPACK_IMAGE_HEIGHT -> image.sliceRows();
            default -> 0;
        };
    }

    private void fill(GlImage image, long base, long offset, long bytes) {
        // A call for fewer dimensions would drop the rest of the box; GL refuses the call for all of them.
        int dimensions = Math.max(dimensions((int) image.nativeHandle()), dimensions(image.region()));
        ImageBoxes boxes = image.boxes();
        boxes.cut(offset, bytes);
        while (boxes.next()) {
            fill(image, dimensions, base + boxes.offset());
        }
    }

    /** Returns the number of dimensions of the texture; 3 if there is no such texture, which GL then reports. */
    private int dimensions(int texture) {
        value[0] = 0;
        GlTextures.glGetTextureParameteriv(texture, GlTextures.GL_TEXTURE_TARGET, value);
        return switch (value[0]) {
            case GlTextures.GL_TEXTURE_1D -> 1;
            case GlTextures.GL_TEXTURE_2D, GlTextures.GL_TEXTURE_RECTANGLE, GlTextures.GL_TEXTURE_1D_ARRAY -> 2;
            default -> 3;
        };
    }

    /** Returns in how many dimensions a box is more than one texel at 0. */
    private static int dimensions(ImageRegion region) {
        boolean deep = region.origin().z() > 0 || region.extent().z() > 1;
        boolean high = region.origin().y() > 0 || region.extent().y() > 1;
        return deep ? 3 : high ? 2 : 1;
    }

    private static void fill(GlImage image, int dimensions, long at) {
        ImageRegion region = image.region();
        ImageBoxes boxes = image.boxes();
        int texture = (int) region.image();
        int level = region.level();
        int x = region.origin().x() + boxes.column();
        int y = region.origin().y() + boxes.row();
        int z = region.origin().z() + boxes.slice();
        int columns = boxes.columns();
        int rows = boxes.rows();
        int format = image.format().format();
        int type = image.format().type();
        switch (dimensions) {
            case 1 -> GlTextures.glTextureSubImage1D(texture, level, x, columns, format, type, at);
            case 2 -> GlTextures.glTextureSubImage2D(texture, level, x, y, columns, rows, format, type, at);
            default ->
                GlTextures.glTextureSubImage3D(
                        texture, level, x, y, z, columns, rows, boxes.slices(), format, type, at);
        }
    }
}
