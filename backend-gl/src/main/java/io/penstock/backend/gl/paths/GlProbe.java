// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.gl.paths;

import io.penstock.Availability;
import io.penstock.Options;
import io.penstock.backend.gl.context.ContextSource;
import io.penstock.backend.gl.context.GlContext;
import io.penstock.backend.gl.context.GlFacts;
import io.penstock.backend.gl.ffi.Egl;
import io.penstock.backend.gl.ffi.Gl;
import io.penstock.backend.gl.ffi.Wgl;
import io.penstock.backend.gl.options.GlOptions;
import io.penstock.backend.gl.options.GlPath;
import io.penstock.backend.gl.platform.ContextChoice;
import io.penstock.backend.gl.platform.EglContext;
import io.penstock.backend.gl.platform.EglPlatform;
import io.penstock.backend.gl.ssg.GlSsg;
import io.penstock.backend.gl.ssg.SsgTokens;
import io.penstock.engine.kit.ffi.NativeAccess;
import io.penstock.engine.kit.ssg.SsgProof;
import io.penstock.engine.spi.staging.StagingPath;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Probes EGL and OpenGL. The version and the extensions can be queried in a context only: one is created and destroyed,
 * once per display and process.
 */
final class GlProbe {

    private static final Map<Long, GlFacts> KNOWN = new ConcurrentHashMap<>(); // by display

    private GlProbe() {}

    static Availability probe(Options options) {
        return NativeAccess.probe(
                () -> ContextChoice.isCurrent(options) || Wgl.isHere() ? ofContext(options) : headless(options),
                "update the driver of the GPU, or set " + GlOptions.DEVICE);
    }

    private static Availability headless(Options options) {
        EglPlatform platform = EglPlatform.find(options);
        if (!platform.isUsable()) {
            return Availability.absent(platform.reason(), platform.remedy());
        }
        GlFacts known = SsgTokens.of(options).missing().isEmpty() ? null : KNOWN.get(platform.display());
        Seen seen = known == null ? inspect(EglContext.on(platform.display()), options) : withoutSsg(known, options);
        KNOWN.put(platform.display(), seen.facts);
        List<String> details = new ArrayList<>();
        details.add("display: " + platform.name() + ", EGL " + platform.version() + ", " + Egl.LIBRARY.file());
        platform.devices().forEach(device -> details.add(device.toString()));
        return available(seen, options, details);
    }

    private static Availability ofContext(Options options) {
        return available(inspect(ContextChoice.of(options), options), options, new ArrayList<>());
    }

    /** The facts of a context, and of AMD's extension in it. */
    private record Seen(GlFacts facts, SsgProof proof) {}

    private static Seen inspect(ContextSource source, Options options) {
        GlContext context = GlContext.start(source);
        try {
            SsgProof proof = context.call("search for the SSG extension", () -> GlSsg.proof(context, options));
            return new Seen(context.facts(), proof);
        } finally {
            context.leave();
        }
    }

    private static Seen withoutSsg(GlFacts facts, Options options) {
        return new Seen(facts, SsgProof.failed(SsgTokens.of(options).missing()));
    }

    private static Availability available(Seen seen, Options options, List<String> details) {
        GlFacts facts = seen.facts;
        if (options.get(GlOptions.PATH) == GlPath.SSG && !seen.proof.isProven()) {
            return Availability.absent(
                    GlOptions.PATH + "=ssg, but " + seen.proof.reason(), "see docs/vendors/gl.md for its requirements");
        }
        details.add("OpenGL " + facts.version() + ", " + facts.vendor() + ", " + Gl.file());
        details.add(seen.proof.toString());
        details.add(StagingPath.fact());
        return Availability.available(!facts.isSoftware(), facts.renderer() + ", OpenGL " + facts.version(), details);
    }
}
