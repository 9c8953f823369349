// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.gl;

import io.penstock.Options;
import io.penstock.backend.gl.ffi.Egl;
import io.penstock.backend.gl.ffi.Ssg;
import io.penstock.engine.spi.ssg.SsgFileObject;
import io.penstock.engine.spi.ssg.SsgRefusal;
import io.penstock.engine.spi.ssg.SsgTrial;

/**
 * Whether a context really has AMD's extension: a GL file is made.
 *
 * @param reason why not; empty if it has
 * @param blockBytes of the file that was tried
 */
record SsgProof(String reason, long blockBytes) {

    /** Tries it, on the thread of a context; without one only if what was said suffices. */
    static SsgProof of(GlContext context, Options options) {
        SsgTokens tokens = SsgTokens.of(options);
        String reason = tokens.missing();
        if (reason.isEmpty()) {
            reason = missing(context, tokens, options);
        }
        return reason.isEmpty() ? tried(tokens, options) : new SsgProof(reason, 0);
    }

    private static String missing(GlContext context, SsgTokens tokens, Options options) {
        if (tokens.library().isEmpty()) {
            // eglGetProcAddress may answer for any name that begins with gl.
            if (!context.facts().extensions().contains(tokens.extension())) {
                return "the context has no " + tokens.extension();
            }
            String noEgl = Egl.load(options.get(GlOptions.LIBEGL));
            if (!noEgl.isEmpty()) {
                return "there is no EGL to ask for functions: " + noEgl;
            }
        }
        return Ssg.load(tokens.library());
    }

    private static SsgProof tried(SsgTokens tokens, Options options) {
        SsgFileObject.Opener driver = (path, write) -> SsgObject.open(tokens, path, write);
        try {
            return new SsgProof("", SsgTrial.blockBytes(options, GlOptions.SSG_FILE, driver));
        } catch (SsgRefusal e) {
            return new SsgProof("the functions are there, but " + e.getMessage(), 0);
        }
    }

    boolean isProven() {
        return reason.isEmpty();
    }

    @Override
    public String toString() {
        return isProven() ? "SSG, proven by a GL file, in blocks of " + blockBytes + " bytes" : "no SSG: " + reason;
    }
}
