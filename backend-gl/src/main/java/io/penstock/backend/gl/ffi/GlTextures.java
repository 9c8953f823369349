// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.gl.ffi;

import io.penstock.engine.kit.ffi.VendorLibrary;
import java.util.List;

/** The OpenGL 4.5 functions that fill textures by name; only after {@link Gl#load}, in a context of at least 4.5. */
public final class GlTextures {
    public static final int GL_TEXTURE_1D = 0x0DE0;
    public static final int GL_TEXTURE_2D = 0x0DE1;
    public static final int GL_TEXTURE_RECTANGLE = 0x84F5;
    public static final int GL_TEXTURE_1D_ARRAY = 0x8C18;
    public static final int GL_TEXTURE_TARGET = 0x1006;

    public static final int GL_RED = 0x1903;
    public static final int GL_RG = 0x8227;
    public static final int GL_RGB = 0x1907;
    public static final int GL_RGBA = 0x1908;
    public static final int GL_RED_INTEGER = 0x8D94;
    public static final int GL_RG_INTEGER = 0x8228;
    public static final int GL_RGBA_INTEGER = 0x8D99;

    public static final int GL_BYTE = 0x1400;
    public static final int GL_UNSIGNED_BYTE = 0x1401;
    public static final int GL_SHORT = 0x1402;
    public static final int GL_UNSIGNED_SHORT = 0x1403;
    public static final int GL_INT = 0x1404;
    public static final int GL_UNSIGNED_INT = 0x1405;
    public static final int GL_FLOAT = 0x1406;
    public static final int GL_HALF_FLOAT = 0x140B;

    public static final int GL_PIXEL_UNPACK_BUFFER = 0x88EC;
    public static final int GL_PIXEL_UNPACK_BUFFER_BINDING = 0x88EF;
    public static final int GL_UNPACK_SWAP_BYTES = 0x0CF0;
    public static final int GL_UNPACK_LSB_FIRST = 0x0CF1;
    public static final int GL_UNPACK_ROW_LENGTH = 0x0CF2;
    public static final int GL_UNPACK_SKIP_ROWS = 0x0CF3;
    public static final int GL_UNPACK_SKIP_PIXELS = 0x0CF4;
    public static final int GL_UNPACK_ALIGNMENT = 0x0CF5;
    public static final int GL_UNPACK_SKIP_IMAGES = 0x806D;
    public static final int GL_UNPACK_IMAGE_HEIGHT = 0x806E;

    static {
        new VendorLibrary(GlTextures.class, Gl.file(), List.of(), 0, Gl::unexported).load(Gl.file());
    }

    private GlTextures() {}

    public static native void glGetTextureParameteriv(int texture, int name, int[] value);

    public static native void glPixelStorei(int name, int value);

    public static native void glTextureSubImage1D(
            int texture, int level, int x, int width, int format, int type, long pixels);

    public static native void glTextureSubImage2D(
            int texture, int level, int x, int y, int width, int height, int format, int type, long pixels);

    public static native void glTextureSubImage3D(
            int texture,
            int level,
            int x,
            int y,
            int z,
            int width,
            int height,
            int depth,
            int format,
            int type,
            long pixels);
}
