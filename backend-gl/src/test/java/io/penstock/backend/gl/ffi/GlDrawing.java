// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.gl.ffi;

import com.sun.jna.Native;
import io.penstock.engine.kit.ffi.NativeMemory;
import java.lang.ref.Reference;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;

/** The functions of OpenGL that an application draws with, and this backend does not. */
public final class GlDrawing {
    public static final int GL_TRIANGLES = 4;
    public static final int GL_TEXTURE_2D = 0x0DE1;
    public static final int GL_TEXTURE_3D = 0x806F;
    public static final int GL_PACK_ALIGNMENT = 0x0D05;
    public static final int GL_RGBA = 0x1908;
    public static final int GL_RGBA8 = 0x8058;
    public static final int GL_RED = 0x1903;
    public static final int GL_R8 = 0x8229;
    public static final int GL_UNSIGNED_BYTE = 0x1401;
    public static final int GL_COLOR_ATTACHMENT0 = 0x8CE0;
    public static final int GL_FRAMEBUFFER = 0x8D40;
    public static final int GL_SHADER_STORAGE_BUFFER = 0x90D2;
    public static final int GL_VERTEX_SHADER = 0x8B31;
    public static final int GL_FRAGMENT_SHADER = 0x8B30;
    private static final int GL_LINK_STATUS = 0x8B82;

    static {
        String missing = Gl.load("");
        if (!missing.isEmpty()) {
            throw new UnsatisfiedLinkError(missing);
        }
        Native.register(GlDrawing.class, Gl.file());
    }

    private GlDrawing() {}

    /** Makes a program of two shaders. */
    public static int program(String vertex, String fragment) {
        int program = glCreateProgram();
        glAttachShader(program, shader(GL_VERTEX_SHADER, vertex));
        glAttachShader(program, shader(GL_FRAGMENT_SHADER, fragment));
        glLinkProgram(program);
        int[] linked = new int[1];
        glGetProgramiv(program, GL_LINK_STATUS, linked);
        if (linked[0] == 0) {
            byte[] log = new byte[4096];
            int[] length = new int[1];
            glGetProgramInfoLog(program, log.length, length, log);
            throw new AssertionError(new String(log, 0, length[0], StandardCharsets.UTF_8));
        }
        return program;
    }

    private static int shader(int kind, String text) {
        int shader = glCreateShader(kind);
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        ByteBuffer source = ByteBuffer.allocateDirect(bytes.length)
                .order(ByteOrder.nativeOrder())
                .put(bytes);
        try {
            glShaderSource(shader, 1, new long[] {NativeMemory.address(source)}, new int[] {bytes.length});
        } finally {
            Reference.reachabilityFence(source);
        }
        glCompileShader(shader);
        return shader;
    }

    public static native void glAttachShader(int program, int shader);

    public static native void glBindBufferBase(int target, int index, int buffer);

    public static native void glBindFramebuffer(int target, int framebuffer);

    public static native void glBindVertexArray(int array);

    public static native void glClearTexImage(int texture, int level, int format, int type, byte[] texel);

    public static native void glCompileShader(int shader);

    public static native void glCreateFramebuffers(int count, int[] names);

    public static native int glCreateProgram();

    public static native int glCreateShader(int kind);

    public static native void glCreateTextures(int target, int count, int[] names);

    public static native void glCreateVertexArrays(int count, int[] names);

    public static native void glDeleteTextures(int count, int[] names);

    public static native void glDrawArrays(int mode, int first, int count);

    public static native void glEnable(int capability);

    public static native void glGetNamedBufferSubData(int buffer, long offset, long bytes, byte[] data);

    public static native void glGetProgramInfoLog(int program, int most, int[] length, byte[] log);

    public static native void glGetProgramiv(int program, int name, int[] value);

    public static native void glGetTextureImage(int texture, int level, int format, int type, int most, byte[] pixels);

    public static native int glGetUniformLocation(int program, byte[] name);

    public static native void glLinkProgram(int program);

    public static native void glNamedFramebufferTexture(int framebuffer, int attachment, int texture, int level);

    public static native void glPixelStorei(int name, int value);

    public static native void glShaderSource(int shader, int count, long[] strings, int[] lengths);

    public static native void glTextureStorage2D(int texture, int levels, int format, int width, int height);

    public static native void glTextureStorage3D(int texture, int levels, int format, int width, int height, int depth);

    public static native void glUniform1i(int location, int value);

    public static native void glUseProgram(int program);

    public static native void glViewport(int x, int y, int width, int height);
}
