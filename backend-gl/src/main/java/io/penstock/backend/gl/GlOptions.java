// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.gl;

import io.penstock.Option;
import java.util.List;

/** The options of the gl backend, beside those of every backend and those of staging. */
public final class GlOptions {

    /** Which way transfers take. */
    public static final Option<GlPath> PATH =
            Option.choice("penstock.gl.path", GlPath.class, GlPath.AUTO, "which way transfers take");

    /** Which device a context of ours is made on. */
    public static final Option<String> DEVICE = Option.text(
            "penstock.gl.device",
            "auto",
            "auto (the first GPU, else what renders in software), surfaceless, or the number of a device as EGL counts");

    /** Whose context. */
    public static final Option<String> CONTEXT = Option.text(
            "penstock.gl.context",
            "headless",
            "headless, or current: a context that shares with the EGL context of the thread that opens the backend");

    /** Where EGL is. */
    public static final Option<String> LIBEGL =
            Option.text("penstock.gl.libegl", "", "the file of EGL; without it libEGL.so.1 and the usual folders");

    /** Where OpenGL is. */
    public static final Option<String> LIBGL = Option.text(
            "penstock.gl.libgl", "", "the file of OpenGL; without it libOpenGL.so.0, libGL.so.1 and the usual folders");

    private GlOptions() {}

    /** Returns all of them. */
    public static List<Option<?>> all() {
        return List.of(PATH, DEVICE, CONTEXT, LIBEGL, LIBGL);
    }
}
