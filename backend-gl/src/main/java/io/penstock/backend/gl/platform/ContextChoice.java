// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.gl.platform;

import io.penstock.Options;
import io.penstock.backend.gl.context.ContextSource;
import io.penstock.backend.gl.context.GlFailure;
import io.penstock.backend.gl.ffi.Egl;
import io.penstock.backend.gl.ffi.Wgl;
import io.penstock.backend.gl.options.GlOptions;

/** The context that the options select. */
public final class ContextChoice {

    private ContextChoice() {}

    /**
     * Returns the source of the selected context; creates no context yet.
     *
     * @throws io.penstock.BackendUnavailableException if there is no display, or no current context
     */
    public static ContextSource of(Options options) {
        if (Wgl.isHere() && !isCurrent(options)) {
            EglPlatform.libraries(options).orThrow();
            return new WglContext(0);
        }
        if (isCurrent(options)) {
            EglPlatform.egl(options).orThrow();
            return sharingWithCurrent();
        }
        return EglContext.on(EglPlatform.find(options).orThrow().display());
    }

    /** Returns true if the options select a context that shares with the context current on this thread. */
    public static boolean isCurrent(Options options) {
        String text = options.get(GlOptions.CONTEXT);
        return switch (text) {
            case "headless" -> false;
            case "current" -> true;
            default ->
                throw new IllegalArgumentException(options.source(GlOptions.CONTEXT) + " sets " + GlOptions.CONTEXT
                        + "=" + text + ", but it must be headless or current");
        };
    }

    private static ContextSource sharingWithCurrent() {
        long context = Egl.eglGetCurrentContext();
        if (context == 0) {
            throw GlFailure.unavailable("no context: " + GlOptions.CONTEXT
                    + "=current, but no EGL context is current on thread "
                    + Thread.currentThread().getName());
        }
        return EglContext.sharing(Egl.eglGetCurrentDisplay(), context);
    }
}
