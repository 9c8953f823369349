// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.gl.ffi;

import java.util.List;

/** The numbers of {@code eglGetError}, and their names. */
public final class EglError {

    private static final List<String> SYMBOLS = List.of(
            "EGL_SUCCESS",
            "EGL_NOT_INITIALIZED",
            "EGL_BAD_ACCESS",
            "EGL_BAD_ALLOC",
            "EGL_BAD_ATTRIBUTE",
            "EGL_BAD_CONFIG",
            "EGL_BAD_CONTEXT",
            "EGL_BAD_CURRENT_SURFACE",
            "EGL_BAD_DISPLAY",
            "EGL_BAD_MATCH",
            "EGL_BAD_NATIVE_PIXMAP",
            "EGL_BAD_NATIVE_WINDOW",
            "EGL_BAD_PARAMETER",
            "EGL_BAD_SURFACE",
            "EGL_CONTEXT_LOST");

    private EglError() {}

    /** Returns the name of an error; an empty string if unknown. */
    public static String symbol(int error) {
        int index = error - Egl.EGL_SUCCESS;
        return index >= 0 && index < SYMBOLS.size() ? SYMBOLS.get(index) : "";
    }
}
