// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.gl.ffi;

import io.penstock.engine.kit.ffi.VendorLibrary;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * EGL 1.5 ({@code libEGL.so.1}). A function that the library does not have returns 0, which is EGL's "no".
 *
 * <p>No function may be called before {@link #LIBRARY} is loaded.
 */
public final class Egl {
    public static final int EGL_NONE = 0x3038;
    public static final int EGL_SUCCESS = 0x3000;
    public static final int EGL_CONFIG_ID = 0x3028;
    public static final int EGL_VENDOR = 0x3053;
    public static final int EGL_VERSION = 0x3054;
    public static final int EGL_EXTENSIONS = 0x3055;
    public static final int EGL_OPENGL_API = 0x30A2;
    public static final int EGL_CONTEXT_MAJOR_VERSION = 0x3098;
    public static final int EGL_CONTEXT_MINOR_VERSION = 0x30FB;
    public static final int EGL_CONTEXT_OPENGL_PROFILE_MASK = 0x30FD;
    public static final int EGL_CONTEXT_OPENGL_CORE_PROFILE_BIT = 1;
    public static final int EGL_CONTEXT_OPENGL_ROBUST_ACCESS = 0x31B2;
    public static final int EGL_CONTEXT_OPENGL_RESET_NOTIFICATION_STRATEGY = 0x31BD;
    public static final int EGL_LOSE_CONTEXT_ON_RESET = 0x31BF;
    public static final int EGL_PLATFORM_SURFACELESS_MESA = 0x31DD;
    public static final int EGL_PLATFORM_DEVICE_EXT = 0x313F;

    /** The library that exports them, loaded once per process. */
    public static final VendorLibrary LIBRARY = new VendorLibrary(
            Egl.class,
            "libEGL.so.1",
            List.of("/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/lib64", "/usr/local/nvidia/lib64"),
            0);

    private Egl() {}

    public static native int eglBindAPI(int api);

    public static native long eglCreateContext(long display, long config, long share, int[] attributes);

    public static native int eglDestroyContext(long display, long context);

    public static native long eglGetCurrentContext();

    public static native long eglGetCurrentDisplay();

    public static native int eglGetError();

    public static native long eglGetPlatformDisplay(int platform, long nativeDisplay, long @Nullable [] attributes);

    public static native long eglGetProcAddress(String name);

    public static native int eglInitialize(long display, int[] major, int[] minor);

    public static native int eglChooseConfig(long display, int[] attributes, long[] configs, int most, int[] count);

    public static native int eglMakeCurrent(long display, long draw, long read, long context);

    public static native int eglQueryContext(long display, long context, int attribute, int[] value);

    public static native @Nullable String eglQueryString(long display, int name);

    public static native int eglReleaseThread();
}
