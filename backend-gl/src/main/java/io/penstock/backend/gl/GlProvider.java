// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.gl;

import io.penstock.Availability;
import io.penstock.Backend;
import io.penstock.Option;
import io.penstock.Options;
import io.penstock.engine.Engine;
import io.penstock.engine.host.HostOptions;
import io.penstock.engine.spi.Route;
import io.penstock.engine.spi.staging.StagingOptions;
import io.penstock.spi.BackendProvider;
import java.util.ArrayList;
import java.util.List;
import java.util.function.UnaryOperator;

/** OpenGL's buffers and textures, in a context without a window. */
public final class GlProvider implements BackendProvider {

    static final String NAME = "gl";

    /** Makes one; for {@link java.util.ServiceLoader}. */
    public GlProvider() {}

    @Override
    public String name() {
        return NAME;
    }

    @Override
    public String description() {
        return "OpenGL buffers, by AMD's SSG, mapped, or by a ring of mapped slots";
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
        return open(options, route -> route);
    }

    /** Opens it with something between the engine and its routes. */
    Backend open(Options options, UnaryOperator<Route> around) {
        return open(GlContext.start(ContextChoice.of(options)), options, around);
    }

    /** Opens it in a context, of which it takes over one use. */
    static Backend open(GlContext context, Options options, UnaryOperator<Route> around) {
        GlRoutes routes;
        try {
            routes = GlRoutes.of(context, options);
        } catch (RuntimeException e) {
            context.leave();
            throw e;
        }
        context.pump().spinFor(1000L * options.get(StagingOptions.SPIN_MICROS)); // for fences too, which have no queue
        GlDriver driver = new GlDriver(context, routes);
        return Engine.open(NAME, driver, routes.all().stream().map(around).toList(), options);
    }
}
