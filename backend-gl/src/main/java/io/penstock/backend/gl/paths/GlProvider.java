// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.gl.paths;

import io.penstock.Availability;
import io.penstock.Backend;
import io.penstock.Option;
import io.penstock.Options;
import io.penstock.backend.gl.context.GlContext;
import io.penstock.backend.gl.options.GlOptions;
import io.penstock.backend.gl.platform.ContextChoice;
import io.penstock.engine.Engine;
import io.penstock.engine.options.HostOptions;
import io.penstock.engine.spi.staging.StagingOptions;
import io.penstock.spi.BackendProvider;
import java.util.ArrayList;
import java.util.List;

/** OpenGL's buffers and textures, in a context without a window. */
public final class GlProvider implements BackendProvider {

    static final String NAME = "gl";

    /** Creates a provider; for {@link java.util.ServiceLoader}. */
    public GlProvider() {}

    @Override
    public String name() {
        return NAME;
    }

    @Override
    public String description() {
        return "OpenGL buffers, through AMD's SSG, mapped, or through a ring of mapped staging buffers";
    }

    @Override
    public int gpuOrder() {
        return 300;
    }

    @Override
    public List<Option<?>> options() {
        List<Option<?>> options = new ArrayList<>(GlOptions.all());
        options.addAll(HostOptions.all());
        options.addAll(StagingOptions.all());
        return options;
    }

    @Override
    public Availability probe(Options options) {
        return GlProbe.probe(options);
    }

    @Override
    public Backend open(Options options) {
        return open(GlContext.start(ContextChoice.of(options)), options);
    }

    /** Opens the backend in a context, and takes over one reference to the context. */
    public static Backend open(GlContext context, Options options) {
        GlPaths ioPaths;
        try {
            ioPaths = new GlPaths(context, options);
        } catch (RuntimeException | Error e) {
            context.leave();
            throw e;
        }
        context.pump().spinFor(StagingOptions.explicitSpinNanos(options)); // for fences too, which have no queue
        GlDriver driver = new GlDriver(context, ioPaths);
        return Engine.open(NAME, driver, ioPaths.all(), options);
    }
}
