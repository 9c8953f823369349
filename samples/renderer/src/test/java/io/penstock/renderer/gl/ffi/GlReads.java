// SPDX-License-Identifier: Apache-2.0
package io.penstock.renderer.gl.ffi;

import com.sun.jna.Native;

/** What tests look at textures with. */
public final class GlReads {

    public static final int GL_RED = 0x1903;
    public static final int GL_RGB = 0x1907;
    public static final int GL_RED_INTEGER = 0x8D94;
    public static final int GL_UNSIGNED_BYTE = 0x1401;
    private static final int GL_PACK_ALIGNMENT = 0x0D05;

    static {
        Native.register(GlReads.class, GlCalls.library());
    }

    private GlReads() {}

    /** Returns the texels of a texture, row by row. */
    public static byte[] texels(int texture, int format, int bytes) {
        byte[] texels = new byte[bytes];
        glPixelStorei(GL_PACK_ALIGNMENT, 1);
        glGetTextureImage(texture, 0, format, GL_UNSIGNED_BYTE, bytes, texels);
        return texels;
    }

    public static native byte glIsTexture(int texture);

    private static native void glPixelStorei(int name, int value);

    private static native void glGetTextureImage(int texture, int level, int format, int type, int most, byte[] texels);
}
