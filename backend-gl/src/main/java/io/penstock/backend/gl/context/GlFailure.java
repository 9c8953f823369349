// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.gl.context;

import io.penstock.BackendUnavailableException;
import io.penstock.Failure;
import io.penstock.backend.gl.ffi.Gl;
import io.penstock.backend.gl.ffi.GlError;

/** GL errors, for any call. */
public final class GlFailure {

    private GlFailure() {}

    /**
     * Returns what caused the loss of a context, for the errors after which nothing in it works; empty for all others.
     */
    public static String cause(int code) {
        return switch (code) {
            case GlError.GUILTY_CONTEXT_RESET ->
                "a command in this GL context has hung the GPU, and the context is lost";
            case GlError.INNOCENT_CONTEXT_RESET ->
                "a command in another context, not this transfer, has hung the GPU, and this context is lost with it";
            case GlError.UNKNOWN_CONTEXT_RESET, GlError.CONTEXT_LOST ->
                "the GPU was reset, and this GL context is lost";
            default -> "";
        };
    }

    /** Returns the first pending GL error, and clears all of them. */
    public static int takeError() {
        int first = Gl.glGetError();
        // A lost or absent context may return errors for ever.
        for (int more = first, i = 0; more != GlError.NO_ERROR && i < 16; i++) {
            more = Gl.glGetError();
        }
        return first;
    }

    public static BackendUnavailableException unavailable(String why) {
        return new BackendUnavailableException(why, Failure.NOT_STARTED, null);
    }
}
