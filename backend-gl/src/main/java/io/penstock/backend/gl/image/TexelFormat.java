// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.gl.image;

import io.penstock.backend.gl.ffi.GlTextures;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The GL format and type of texels in file layout, which {@link io.penstock.ImageRegion.Layout#format} names by the
 * equivalent sized internal format. The texture's own format may differ; GL converts.
 *
 * @param format the components, GL_RED to GL_RGBA_INTEGER
 * @param type of each, GL_UNSIGNED_BYTE to GL_FLOAT
 * @param bytes of a texel
 */
record TexelFormat(int format, int type, int bytes) {

    private static final int[] COMPONENTS = {1, 2, 4};
    private static final int[] NORMAL = {GlTextures.GL_RED, GlTextures.GL_RG, GlTextures.GL_RGBA};
    private static final int[] INTEGER = {
        GlTextures.GL_RED_INTEGER, GlTextures.GL_RG_INTEGER, GlTextures.GL_RGBA_INTEGER
    };

    private static final Map<Integer, TexelFormat> KNOWN = new HashMap<>();

    static {
        // GL_R8, GL_RG8, GL_RGBA8 and so on.
        add(NORMAL, GlTextures.GL_UNSIGNED_BYTE, 1, 0x8229, 0x822B, 0x8058);
        add(NORMAL, GlTextures.GL_UNSIGNED_SHORT, 2, 0x822A, 0x822C, 0x805B);
        add(NORMAL, GlTextures.GL_BYTE, 1, 0x8F94, 0x8F95, 0x8F97);
        add(NORMAL, GlTextures.GL_SHORT, 2, 0x8F98, 0x8F99, 0x8F9B);
        add(NORMAL, GlTextures.GL_HALF_FLOAT, 2, 0x822D, 0x822F, 0x881A);
        add(NORMAL, GlTextures.GL_FLOAT, 4, 0x822E, 0x8230, 0x8814);
        add(INTEGER, GlTextures.GL_UNSIGNED_BYTE, 1, 0x8232, 0x8238, 0x8D7C);
        add(INTEGER, GlTextures.GL_BYTE, 1, 0x8231, 0x8237, 0x8D8E);
        add(INTEGER, GlTextures.GL_UNSIGNED_SHORT, 2, 0x8234, 0x823A, 0x8D76);
        add(INTEGER, GlTextures.GL_SHORT, 2, 0x8233, 0x8239, 0x8D88);
        add(INTEGER, GlTextures.GL_UNSIGNED_INT, 4, 0x8236, 0x823C, 0x8D70);
        add(INTEGER, GlTextures.GL_INT, 4, 0x8235, 0x823B, 0x8D82);
        KNOWN.put(0x8051, new TexelFormat(GlTextures.GL_RGB, GlTextures.GL_UNSIGNED_BYTE, 3)); // GL_RGB8
    }

    private static void add(int[] formats, int type, int typeBytes, int... sized) {
        for (int i = 0; i < sized.length; i++) {
            KNOWN.put(sized[i], new TexelFormat(formats[i], type, COMPONENTS[i] * typeBytes));
        }
    }

    /** Returns the format for a sized internal format; null for formats that files are not read into. */
    static @Nullable TexelFormat of(int sized) {
        return KNOWN.get(sized);
    }
}
