// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.gl.context;

import io.penstock.backend.gl.ffi.Gl;
import java.util.HashSet;
import java.util.Locale;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The properties of a context.
 *
 * @param version GL's version string, {@code 4.5 (Core Profile) Mesa 22.3.6}
 * @param number of the version, 45; 0 if it is not a version of OpenGL
 */
public record GlFacts(String vendor, String renderer, String version, int number, Set<String> extensions) {

    /** Fences require 3.2; buffer storage may be an extension. */
    private static final int OLDEST = 32;

    private static final Pattern NUMBER = Pattern.compile("^(\\d)\\.(\\d)");

    /**
     * Queries the context that is current on this thread.
     *
     * @throws io.penstock.BackendUnavailableException if there is none
     */
    static GlFacts ofCurrent() {
        String version = Gl.glGetString(Gl.GL_VERSION);
        if (version == null) {
            throw GlFailure.unavailable("no context: no OpenGL context is current on thread "
                    + Thread.currentThread().getName());
        }
        Matcher matcher = NUMBER.matcher(version);
        int number = matcher.find() ? Integer.parseInt(matcher.group(1) + matcher.group(2)) : 0;
        return new GlFacts(
                String.valueOf(Gl.glGetString(Gl.GL_VENDOR)),
                String.valueOf(Gl.glGetString(Gl.GL_RENDERER)),
                version,
                number,
                number < 30 ? Set.of() : extensionsOfCurrent());
    }

    private static Set<String> extensionsOfCurrent() {
        int[] count = new int[1];
        Gl.glGetIntegerv(Gl.GL_NUM_EXTENSIONS, count);
        Set<String> extensions = new HashSet<>();
        for (int i = 0; i < count[0]; i++) {
            extensions.add(String.valueOf(Gl.glGetStringi(Gl.GL_EXTENSIONS, i)));
        }
        return extensions;
    }

    /** Returns why the context cannot be used; empty if it can. */
    String refusal() {
        if (number == 0) {
            return "too old: " + renderer + " reports \"" + version + "\", which is not desktop OpenGL";
        }
        if (number < OLDEST) {
            return "too old: " + renderer + " has OpenGL " + version + ", and this backend requires 3.2";
        }
        if (!has(44, "GL_ARB_buffer_storage")) {
            return "no ARB_buffer_storage: " + renderer + " has OpenGL " + version
                    + ", and persistent maps require 4.4";
        }
        return "";
    }

    private boolean has(int since, String extension) {
        return number >= since || extensions.contains(extension);
    }

    /** Returns true if buffers can be accessed by name, without changing a binding. */
    public boolean hasNamedBuffers() {
        return has(45, "GL_ARB_direct_state_access");
    }

    /** Returns true if the context can report its loss. */
    boolean reportsResets() {
        return has(45, "GL_KHR_robustness");
    }

    /** Returns true if the device is the processor itself. */
    public boolean isSoftware() {
        String name = renderer.toLowerCase(Locale.ROOT);
        return name.contains("llvmpipe")
                || name.contains("softpipe")
                || name.contains("swrast")
                || name.contains("swiftshader")
                || name.contains("software");
    }
}
