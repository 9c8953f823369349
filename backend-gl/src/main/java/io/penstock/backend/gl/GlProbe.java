// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.gl;

import io.penstock.Availability;
import io.penstock.BackendUnavailableException;
import io.penstock.Options;
import io.penstock.backend.gl.ffi.Egl;
import io.penstock.backend.gl.ffi.Gl;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Says what there is of EGL and OpenGL. The version and the extensions can be asked of a context only: one is made and
 * let go, once per display and process.
 */
final class GlProbe {

    private static final Map<Long, GlFacts> KNOWN = new ConcurrentHashMap<>(); // by display

    private GlProbe() {}

    static Availability probe(Options options) {
        try {
            return ContextChoice.isCurrent(options) ? ofCurrent(options) : headless(options);
        } catch (BackendUnavailableException e) {
            return Availability.absent(
                    String.valueOf(e.getMessage()), "update the driver of the GPU, or set " + GlOptions.DEVICE);
        } catch (RuntimeException | LinkageError e) {
            return Availability.absent("the probe failed: " + e, "report this");
        }
    }

    private static Availability headless(Options options) {
        EglPlatform platform = EglPlatform.find(options);
        if (!platform.isUsable()) {
            return Availability.absent(platform.reason(), platform.remedy());
        }
        GlFacts facts = KNOWN.get(platform.display());
        if (facts == null) {
            facts = facts(EglContext.on(platform.display()));
            KNOWN.put(platform.display(), facts);
        }
        List<String> details = new ArrayList<>();
        details.add("display: " + platform.name() + ", EGL " + platform.version() + ", " + Egl.file());
        platform.devices().forEach(device -> details.add(device.toString()));
        return available(facts, details);
    }

    private static Availability ofCurrent(Options options) {
        ContextSource source = ContextChoice.of(options);
        return available(facts(source), new ArrayList<>());
    }

    private static GlFacts facts(ContextSource source) {
        GlContext context = GlContext.start(source);
        try {
            return context.facts();
        } finally {
            context.leave();
        }
    }

    private static Availability available(GlFacts facts, List<String> details) {
        details.add("OpenGL " + facts.version() + ", " + facts.vendor() + ", " + Gl.file());
        return Availability.available(!facts.isSoftware(), facts.renderer() + ", OpenGL " + facts.version(), details);
    }
}
