// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.gl.platform;

import io.penstock.NativeError;
import io.penstock.backend.gl.context.ContextSource;
import io.penstock.backend.gl.context.GlFailure;
import io.penstock.backend.gl.ffi.HiddenWindow;
import io.penstock.backend.gl.ffi.Wgl;
import org.jspecify.annotations.Nullable;

/**
 * A WGL context with a window that is never shown; alone, or sharing with a context that is current on no other thread.
 *
 * <p><b>Threading:</b> begin and end must be called on one thread.
 */
public final class WglContext implements ContextSource {

    private static final int[][] VERSIONS = {{4, 5}, {3, 2}}; // a driver may return exactly the requested version

    private final long shared;
    private @Nullable HiddenWindow window;
    private long context;

    /**
     * Describes one.
     *
     * @param shared the HGLRC to share with, or 0
     */
    public WglContext(long shared) {
        this.shared = shared;
    }

    /** Returns the HGLRC; 0 before {@link #begin}. */
    public long handle() {
        return context;
    }

    /** Returns the HDC; 0 before {@link #begin}. */
    public long dc() {
        return window == null ? 0 : window.dc();
    }

    @Override
    public void begin() {
        HiddenWindow opened = HiddenWindow.open();
        window = opened;
        NativeError failed = opened.failure();
        if (failed != null) {
            end();
            throw GlFailure.unavailable("no context: no window for it: " + failed);
        }
        // The function that creates contexts of a given version can be resolved only in a context.
        long first = Wgl.wglCreateContext(opened.dc());
        NativeError refused = first == 0 || Wgl.wglMakeCurrent(opened.dc(), first) == 0
                ? error("wglCreateContext")
                : create(opened.dc());
        boolean current = refused == null && Wgl.wglMakeCurrent(opened.dc(), context) != 0;
        if (refused == null && !current) {
            refused = error("wglMakeCurrent");
        }
        if (refused != null) {
            Wgl.wglMakeCurrent(0, 0);
        }
        if (first != 0) {
            Wgl.wglDeleteContext(first);
        }
        if (refused != null) {
            end();
            throw GlFailure.unavailable("too old: no OpenGL 3.2 context: " + refused);
        }
    }

    /** Creates the context; returns null, or the driver's last error. */
    private @Nullable NativeError create(long dc) {
        for (int[] version : VERSIONS) {
            for (boolean robust : new boolean[] {true, false}) {
                context = Wgl.createContext(dc, shared, attributes(version, robust));
                if (context != 0) {
                    return null;
                }
            }
        }
        return error("wglCreateContextAttribsARB");
    }

    /** Robust contexts report their loss. */
    private static int[] attributes(int[] version, boolean robust) {
        return new int[] {
            Wgl.WGL_CONTEXT_MAJOR_VERSION_ARB,
            version[0],
            Wgl.WGL_CONTEXT_MINOR_VERSION_ARB,
            version[1],
            Wgl.WGL_CONTEXT_PROFILE_MASK_ARB,
            Wgl.WGL_CONTEXT_CORE_PROFILE_BIT_ARB,
            robust ? Wgl.WGL_CONTEXT_FLAGS_ARB : 0,
            Wgl.WGL_CONTEXT_ROBUST_ACCESS_BIT_ARB,
            Wgl.WGL_CONTEXT_RESET_NOTIFICATION_STRATEGY_ARB,
            Wgl.WGL_LOSE_CONTEXT_ON_RESET_ARB,
            0
        };
    }

    private static NativeError error(String call) {
        int code = Wgl.lastError();
        return new NativeError(call, code, "error " + code);
    }

    @Override
    public void end() {
        HiddenWindow opened = window;
        window = null;
        if (context != 0) {
            Wgl.wglMakeCurrent(0, 0);
            Wgl.wglDeleteContext(context);
            context = 0;
        }
        if (opened != null) {
            opened.close();
        }
    }
}
