// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.gl;

import io.penstock.Options;
import io.penstock.backend.gl.ffi.Egl;
import io.penstock.backend.gl.ffi.Wgl;

/** Which context options ask for. */
final class ContextChoice {

    private ContextChoice() {}

    /**
     * Finds it, and makes none yet.
     *
     * @throws io.penstock.BackendUnavailableException if there is no display, or none current
     */
    static ContextSource of(Options options) {
        if (Wgl.isHere() && !isCurrent(options)) {
            EglPlatform loaded = EglPlatform.libraries(options);
            if (loaded.isUsable()) {
                return new WglContext(0);
            }
            throw GlFailure.unavailable(loaded.reason() + "; " + loaded.remedy());
        }
        EglPlatform platform = isCurrent(options) ? EglPlatform.egl(options) : EglPlatform.find(options);
        if (!platform.isUsable()) {
            throw GlFailure.unavailable(platform.reason() + "; " + platform.remedy());
        }
        return isCurrent(options) ? sharingWithCurrent() : EglContext.on(platform.display());
    }

    /** Returns whether options ask for a context beside the one that is current on this thread. */
    static boolean isCurrent(Options options) {
        String text = options.get(GlOptions.CONTEXT);
        return switch (text) {
            case "headless" -> false;
            case "current" -> true;
            default ->
                throw new IllegalArgumentException(options.source(GlOptions.CONTEXT) + " says " + GlOptions.CONTEXT
                        + "=" + text + ", but it takes headless or current");
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
