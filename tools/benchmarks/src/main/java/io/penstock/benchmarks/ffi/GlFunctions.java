// SPDX-License-Identifier: Apache-2.0
package io.penstock.benchmarks.ffi;

import com.sun.jna.Memory;
import com.sun.jna.Native;
import com.sun.jna.Pointer;
import io.penstock.backend.gl.ffi.Gl;
import java.nio.charset.StandardCharsets;

/**
 * The OpenGL 4.5 functions that applications use and the backend does not: shaders, pictures, queries, plain copies.
 */
public final class GlFunctions {
    public static final int GL_MAP_INVALIDATE_RANGE_BIT = 0x4;
    public static final int GL_DYNAMIC_STORAGE_BIT = 0x100;
    public static final int GL_SYNC_FLUSH_COMMANDS_BIT = 0x1;
    public static final int GL_BUFFER_UPDATE_BARRIER_BIT = 0x200;
    public static final int GL_TRIANGLES = 4;
    public static final int GL_UNSIGNED_INT = 0x1405;
    public static final int GL_RED_INTEGER = 0x8D94;
    public static final int GL_R32UI = 0x8236;
    public static final int GL_RGBA8 = 0x8058;
    public static final int GL_TEXTURE_2D = 0x0DE1;
    public static final int GL_COLOR_ATTACHMENT0 = 0x8CE0;
    public static final int GL_FRAMEBUFFER = 0x8D40;
    public static final int GL_SHADER_STORAGE_BUFFER = 0x90D2;
    public static final int GL_MAX_SHADER_STORAGE_BLOCK_SIZE = 0x90DE;
    public static final int GL_COMPUTE_SHADER = 0x91B9;
    public static final int GL_VERTEX_SHADER = 0x8B31;
    public static final int GL_FRAGMENT_SHADER = 0x8B30;
    public static final int GL_TIMESTAMP = 0x8E28;
    public static final int GL_QUERY_RESULT = 0x8866;
    private static final int GL_LINK_STATUS = 0x8B82;

    static {
        Native.register(GlFunctions.class, Gl.file()); // the backend has loaded it
    }

    private GlFunctions() {}

    /**
     * Creates a program.
     *
     * @throws IllegalStateException with the compiler's log
     */
    public static int program(int... shaders) {
        int program = glCreateProgram();
        for (int shader : shaders) {
            glAttachShader(program, shader);
        }
        glLinkProgram(program);
        int[] linked = new int[1];
        glGetProgramiv(program, GL_LINK_STATUS, linked);
        if (linked[0] == 0) {
            byte[] log = new byte[4096];
            int[] length = new int[1];
            glGetProgramInfoLog(program, log.length, length, log);
            throw new IllegalStateException(
                    "glLinkProgram failed: " + new String(log, 0, length[0], StandardCharsets.UTF_8));
        }
        return program;
    }

    /** Compiles a shader; errors are reported when it is linked. */
    public static int shader(int kind, String source) {
        int shader = glCreateShader(kind);
        try (Memory text = new Memory(source.length() + 1L)) {
            text.setString(0, source, "US-ASCII");
            glShaderSource(shader, 1, new long[] {Pointer.nativeValue(text)}, 0);
        }
        glCompileShader(shader);
        return shader;
    }

    /**
     * Checks that no call has failed.
     *
     * @throws IllegalStateException with GL's error
     */
    public static void check(String call) {
        int error = Gl.glGetError();
        if (error != 0) {
            throw new IllegalStateException(call + " -> 0x" + Integer.toHexString(error));
        }
    }

    // Buffers.

    public static native void glClearNamedBufferSubData(
            int buffer, int internalFormat, long offset, long bytes, int format, int type, int[] value);

    public static native void glGetNamedBufferSubData(int buffer, long offset, long bytes, int[] data);

    public static native void glMemoryBarrier(int barriers);

    public static native void glNamedBufferSubData(int buffer, long offset, long bytes, long data);

    public static native byte glUnmapNamedBuffer(int buffer);

    public static native void glBindBufferBase(int target, int index, int buffer);

    public static native void glBindBufferRange(int target, int index, int buffer, long offset, long bytes);

    // Shaders.

    private static native void glAttachShader(int program, int shader);

    private static native void glCompileShader(int shader);

    private static native int glCreateProgram();

    private static native int glCreateShader(int kind);

    private static native void glGetProgramInfoLog(int program, int most, int[] length, byte[] log);

    private static native void glGetProgramiv(int program, int name, int[] value);

    private static native void glLinkProgram(int program);

    private static native void glShaderSource(int shader, int count, long[] strings, long lengths);

    public static native void glDeleteProgram(int program);

    public static native void glDispatchCompute(int x, int y, int z);

    public static native void glProgramUniform1i(int program, int location, int value);

    public static native void glProgramUniform2ui(int program, int location, int first, int second);

    public static native void glUseProgram(int program);

    // Pictures.

    public static native void glBindFramebuffer(int target, int framebuffer);

    public static native void glBindVertexArray(int array);

    public static native void glCreateFramebuffers(int count, int[] names);

    public static native void glCreateTextures(int target, int count, int[] names);

    public static native void glCreateVertexArrays(int count, int[] names);

    public static native void glDeleteFramebuffers(int count, int[] names);

    public static native void glDeleteTextures(int count, int[] names);

    public static native void glDeleteVertexArrays(int count, int[] names);

    public static native void glDrawArrays(int mode, int first, int count);

    public static native void glNamedFramebufferTexture(int framebuffer, int attachment, int texture, int level);

    public static native void glTextureStorage2D(int texture, int levels, int format, int width, int height);

    public static native void glViewport(int x, int y, int width, int height);

    // The time of the device.

    public static native void glCreateQueries(int target, int count, int[] names);

    public static native void glDeleteQueries(int count, int[] names);

    public static native void glGetInteger64v(int name, long[] value);

    public static native void glGetQueryObjectui64v(int query, int name, long[] value);

    public static native void glQueryCounter(int query, int target);
}
