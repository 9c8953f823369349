// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.gl.ffi;

import io.penstock.NativeError;
import io.penstock.engine.kit.ffi.VendorLibrary;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * OpenGL ({@code libOpenGL.so.0}, else {@code libGL.so.1}; {@code opengl32.dll}, which exports OpenGL 1.1, and the
 * functions that {@code wglGetProcAddress} resolves in a context of the first driver). A function that the library does
 * not have returns 0 and does nothing, as every function does on a thread without a current context: query the context
 * for its functions.
 *
 * <p>No function may be called before {@link #load} has succeeded.
 */
public final class Gl {
    public static final int GL_VENDOR = 0x1F00;
    public static final int GL_RENDERER = 0x1F01;
    public static final int GL_VERSION = 0x1F02;
    public static final int GL_EXTENSIONS = 0x1F03;
    public static final int GL_NUM_EXTENSIONS = 0x821D;

    public static final int GL_COPY_READ_BUFFER = 0x8F36;
    public static final int GL_COPY_WRITE_BUFFER = 0x8F37;
    public static final int GL_BUFFER_SIZE = 0x8764;
    public static final int GL_BUFFER_STORAGE_FLAGS = 0x8220;
    public static final int GL_MAP_READ_BIT = 0x1;
    public static final int GL_MAP_WRITE_BIT = 0x2;
    public static final int GL_MAP_PERSISTENT_BIT = 0x40;
    public static final int GL_MAP_COHERENT_BIT = 0x80;
    public static final int GL_CLIENT_STORAGE_BIT = 0x200;

    public static final int GL_SYNC_GPU_COMMANDS_COMPLETE = 0x9117;
    public static final int GL_ALREADY_SIGNALED = 0x911A;
    public static final int GL_TIMEOUT_EXPIRED = 0x911B;
    public static final int GL_CONDITION_SATISFIED = 0x911C;
    public static final int GL_WAIT_FAILED = 0x911D;
    public static final long GL_TIMEOUT_IGNORED = -1;

    private static final List<String> FOLDERS =
            List.of("/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/lib64", "/usr/local/nvidia/lib64");
    private static final VendorLibrary LIBRARY =
            new VendorLibrary(Gl.class, Wgl.isHere() ? Wgl.FILE : "libOpenGL.so.0", FOLDERS, 0, Gl::unexported);

    private Gl() {}

    /**
     * Loads it, once for the process.
     *
     * @param file the library, or an empty string for the default names
     * @return why there is none, or an empty string
     */
    public static String load(String file) {
        if (Wgl.isHere()) {
            return loadInContext(file);
        }
        String missing = LIBRARY.load(file);
        boolean older = !missing.isEmpty()
                && file.isEmpty()
                && LIBRARY.load("libGL.so.1").isEmpty();
        return older ? "" : missing;
    }

    /** Most functions can be resolved only while a context is current: uses a temporary one of any version. */
    private static synchronized String loadInContext(String file) {
        String missing = LIBRARY.file().isEmpty() ? Wgl.load(file) : "";
        if (!missing.isEmpty() || !LIBRARY.file().isEmpty()) {
            return missing.isEmpty() ? LIBRARY.load(file) : missing;
        }
        long dcBefore = Wgl.wglGetCurrentDC();
        long before = Wgl.wglGetCurrentContext();
        try (HiddenWindow window = HiddenWindow.open()) {
            NativeError failed = window.failure();
            long context = failed == null ? Wgl.wglCreateContext(window.dc()) : 0;
            if (context == 0 || Wgl.wglMakeCurrent(window.dc(), context) == 0) {
                return "no context of " + Wgl.FILE + ": " + (failed == null ? "error " + Wgl.lastError() : failed);
            }
            missing = LIBRARY.load(file);
            Wgl.wglMakeCurrent(dcBefore, before);
            Wgl.wglDeleteContext(context);
            return missing;
        }
    }

    /** Returns the address of a function that the library does not export, or 0. */
    static long unexported(String function) {
        return Wgl.isHere() ? Wgl.address(function) : 0;
    }

    /** Returns the file that was loaded; empty if none was. */
    public static String file() {
        return LIBRARY.file();
    }

    // What there is.

    public static native int glGetError();

    public static native int glGetGraphicsResetStatus();

    public static native void glGetIntegerv(int name, int[] value);

    public static native @Nullable String glGetString(int name);

    public static native @Nullable String glGetStringi(int name, int index);

    // Buffers by name.

    public static native void glCopyNamedBufferSubData(int read, int write, long readAt, long writeAt, long bytes);

    public static native void glCreateBuffers(int count, int[] names);

    public static native void glGetNamedBufferParameteri64v(int buffer, int name, long[] value);

    public static native long glMapNamedBufferRange(int buffer, long offset, long bytes, int access);

    public static native void glNamedBufferStorage(int buffer, long bytes, long data, int flags);

    // Buffers by binding.

    public static native void glBindBuffer(int target, int buffer);

    public static native void glBufferStorage(int target, long bytes, long data, int flags);

    public static native void glCopyBufferSubData(int read, int write, long readAt, long writeAt, long bytes);

    public static native void glDeleteBuffers(int count, int[] names);

    public static native void glGenBuffers(int count, int[] names);

    public static native void glGetBufferParameteri64v(int target, int name, long[] value);

    public static native byte glIsBuffer(int buffer);

    public static native long glMapBufferRange(int target, long offset, long bytes, int access);

    // Order.

    public static native int glClientWaitSync(long sync, int flags, long nanos);

    public static native void glDeleteSync(long sync);

    public static native long glFenceSync(int condition, int flags);

    public static native void glFinish();

    public static native void glFlush();

    public static native byte glIsSync(long sync);

    public static native void glWaitSync(long sync, int flags, long nanos);
}
