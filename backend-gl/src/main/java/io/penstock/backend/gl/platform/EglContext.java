// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.gl.platform;

import io.penstock.NativeError;
import io.penstock.backend.gl.context.ContextSource;
import io.penstock.backend.gl.context.GlFailure;
import io.penstock.backend.gl.ffi.Egl;

/** An EGL context of the backend without a surface, alone or sharing with a context of the application. */
public final class EglContext implements ContextSource {

    private static final int[][] VERSIONS = {{4, 5}, {3, 2}}; // a driver may return exactly the requested version

    private final long display;
    private final long config;
    private final long shared;
    private long context;

    private EglContext(long display, long config, long shared) {
        this.display = display;
        this.config = config;
        this.shared = shared;
    }

    /** Describes a context that shares with no other. */
    public static EglContext on(long display) {
        return new EglContext(display, 0, 0);
    }

    /**
     * Describes a context that shares with the application's.
     *
     * @throws io.penstock.BackendUnavailableException if EGL does not know it
     */
    public static EglContext sharing(long display, long shared) {
        int[] id = new int[1];
        if (Egl.eglQueryContext(display, shared, Egl.EGL_CONFIG_ID, id) == 0) {
            throw GlFailure.unavailable("no context: EGL has no context 0x" + Long.toHexString(shared)
                    + " on the display 0x" + Long.toHexString(display) + ": " + EglPlatform.error("eglQueryContext"));
        }
        long[] config = new long[1];
        int[] attributes = {Egl.EGL_CONFIG_ID, id[0], Egl.EGL_NONE};
        int[] count = new int[1];
        // A context created without a config reports 0; a context that shares with it has none either.
        boolean has = id[0] != 0 && Egl.eglChooseConfig(display, attributes, config, 1, count) != 0 && count[0] == 1;
        return new EglContext(display, has ? config[0] : 0, shared);
    }

    public long display() {
        return display;
    }

    /** Returns the EGLContext; 0 before {@link #begin}. */
    public long handle() {
        return context;
    }

    @Override
    public void begin() {
        if (Egl.eglBindAPI(Egl.EGL_OPENGL_API) == 0) {
            throw GlFailure.unavailable("too old: no desktop OpenGL behind EGL: " + EglPlatform.error("eglBindAPI"));
        }
        context = create();
        if (Egl.eglMakeCurrent(display, 0, 0, context) == 0) {
            NativeError error = EglPlatform.error("eglMakeCurrent");
            Egl.eglDestroyContext(display, context);
            throw GlFailure.unavailable("no context: " + error);
        }
    }

    /** Robust contexts report their loss; a context that shares must be robust exactly if the other is. */
    private long create() {
        NativeError refused = null;
        for (int[] version : VERSIONS) {
            for (boolean robust : new boolean[] {true, false}) {
                long made = Egl.eglCreateContext(display, config, shared, attributes(version, robust));
                if (made != 0) {
                    return made;
                }
                refused = EglPlatform.error("eglCreateContext");
            }
        }
        throw GlFailure.unavailable("too old: no OpenGL 3.2 context: " + refused);
    }

    private static int[] attributes(int[] version, boolean robust) {
        return new int[] {
            Egl.EGL_CONTEXT_MAJOR_VERSION,
            version[0],
            Egl.EGL_CONTEXT_MINOR_VERSION,
            version[1],
            Egl.EGL_CONTEXT_OPENGL_PROFILE_MASK,
            Egl.EGL_CONTEXT_OPENGL_CORE_PROFILE_BIT,
            robust ? Egl.EGL_CONTEXT_OPENGL_ROBUST_ACCESS : Egl.EGL_NONE,
            1,
            Egl.EGL_CONTEXT_OPENGL_RESET_NOTIFICATION_STRATEGY,
            Egl.EGL_LOSE_CONTEXT_ON_RESET,
            Egl.EGL_NONE
        };
    }

    @Override
    public void end() {
        Egl.eglMakeCurrent(display, 0, 0, 0);
        Egl.eglDestroyContext(display, context);
        Egl.eglReleaseThread();
    }
}
