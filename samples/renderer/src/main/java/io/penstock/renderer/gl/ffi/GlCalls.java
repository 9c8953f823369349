// SPDX-License-Identifier: Apache-2.0
package io.penstock.renderer.gl.ffi;

import com.sun.jna.Memory;
import com.sun.jna.Native;
import com.sun.jna.NativeLibrary;
import com.sun.jna.Pointer;
import io.penstock.backend.gl.GlBackends;
import java.nio.Buffer;
import java.nio.charset.StandardCharsets;

/** OpenGL 4.5 of the library that the backend has loaded, in the context that is current on the calling thread. */
public final class GlCalls {

    public static final int GL_TEXTURE_2D = 0x0DE1;
    public static final int GL_TEXTURE_3D = 0x806F;
    public static final int GL_MAX_3D_TEXTURE_SIZE = 0x8073;
    public static final int GL_MAX_SHADER_STORAGE_BLOCK_SIZE = 0x90DE;
    public static final int GL_TEXTURE_MAG_FILTER = 0x2800;
    public static final int GL_TEXTURE_MIN_FILTER = 0x2801;
    public static final int GL_NEAREST = 0x2600;
    public static final int GL_R8 = 0x8229;
    public static final int GL_RGB8 = 0x8051;
    public static final int GL_R8UI = 0x8232;
    public static final int GL_R16UI = 0x8234;
    public static final int GL_R32UI = 0x8236;
    public static final int GL_COMPUTE_SHADER = 0x91B9;
    public static final int GL_COMPILE_STATUS = 0x8B81;
    public static final int GL_LINK_STATUS = 0x8B82;
    public static final int GL_DYNAMIC_STORAGE_BIT = 0x100;
    public static final int GL_UNIFORM_BUFFER = 0x8A11;
    public static final int GL_SHADER_STORAGE_BUFFER = 0x90D2;
    public static final int GL_ALL_BARRIER_BITS = -1;
    public static final int GL_SYNC_GPU_COMMANDS_COMPLETE = 0x9117;

    private static final int LOG_BYTES = 1 << 14;

    static {
        Native.register(GlCalls.class, library());
    }

    private GlCalls() {}

    /** Returns the backend's own, which an option may name, or which lies where the system's loader does not look. */
    static NativeLibrary library() {
        return NativeLibrary.getInstance(GlBackends.library());
    }

    public static native int glGetError();

    public static native void glGetIntegerv(int name, int[] value);

    public static native void glFinish();

    public static native void glFlush();

    // Buffers.

    public static native void glCreateBuffers(int count, int[] names);

    public static native void glDeleteBuffers(int count, int[] names);

    public static native void glNamedBufferStorage(int buffer, long bytes, long data, int flags);

    public static native void glNamedBufferSubData(int buffer, long offset, long bytes, Buffer from);

    public static native void glGetNamedBufferSubData(int buffer, long offset, long bytes, Buffer to);

    public static native void glBindBufferBase(int target, int index, int buffer);

    // Textures.

    public static native void glCreateTextures(int target, int count, int[] names);

    public static native void glDeleteTextures(int count, int[] names);

    public static native void glTextureStorage3D(int texture, int levels, int format, int width, int height, int depth);

    public static native void glTextureStorage2D(int texture, int levels, int format, int width, int height);

    public static native void glCopyImageSubData(
            int from,
            int fromTarget,
            int fromLevel,
            int fromX,
            int fromY,
            int fromZ,
            int to,
            int toTarget,
            int toLevel,
            int toX,
            int toY,
            int toZ,
            int width,
            int height,
            int depth);

    public static native void glTextureParameteri(int texture, int name, int value);

    public static native void glBindTextureUnit(int unit, int texture);

    // Shaders.

    public static native int glCreateProgram();

    public static native void glDeleteProgram(int program);

    public static native void glAttachShader(int program, int shader);

    public static native void glLinkProgram(int program);

    public static native void glUseProgram(int program);

    public static native void glGetProgramiv(int program, int name, int[] value);

    public static native void glProgramUniform1iv(int program, int location, int count, int[] values);

    public static native int glCreateShader(int kind);

    public static native void glDeleteShader(int shader);

    public static native void glCompileShader(int shader);

    public static native void glGetShaderiv(int shader, int name, int[] value);

    private static native void glShaderSource(int shader, int count, long[] texts, int[] lengths);

    private static native void glGetShaderInfoLog(int shader, int most, int[] length, byte[] log);

    private static native void glGetProgramInfoLog(int program, int most, int[] length, byte[] log);

    /** Sets the source of a shader, in ASCII. */
    public static void source(int shader, String source) {
        try (Memory text = new Memory(source.length() + 1L)) {
            text.setString(0, source, "US-ASCII");
            glShaderSource(shader, 1, new long[] {Pointer.nativeValue(text)}, new int[] {source.length()});
        }
    }

    /** Returns the compiler's log of a shader. */
    public static String shaderLog(int shader) {
        byte[] log = new byte[LOG_BYTES];
        int[] length = new int[1];
        glGetShaderInfoLog(shader, log.length, length, log);
        return new String(log, 0, length[0], StandardCharsets.UTF_8).strip();
    }

    /** Returns the linker's log of a program. */
    public static String programLog(int program) {
        byte[] log = new byte[LOG_BYTES];
        int[] length = new int[1];
        glGetProgramInfoLog(program, log.length, length, log);
        return new String(log, 0, length[0], StandardCharsets.UTF_8).strip();
    }

    // Order.

    public static native void glDispatchCompute(int x, int y, int z);

    public static native void glMemoryBarrier(int barriers);

    public static native long glFenceSync(int condition, int flags);

    public static native void glDeleteSync(long sync);
}
