// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.opencl;

import io.penstock.Availability;
import io.penstock.Backend;
import io.penstock.Option;
import io.penstock.Options;
import io.penstock.engine.Engine;
import io.penstock.engine.spi.Route;
import io.penstock.engine.spi.staging.StagingOptions;
import io.penstock.spi.BackendProvider;
import java.util.ArrayList;
import java.util.List;
import java.util.function.UnaryOperator;

/** OpenCL devices, wherever a driver is. */
public final class OpenClProvider implements BackendProvider {

    /** Makes one; for {@link java.util.ServiceLoader}. */
    public OpenClProvider() {}

    @Override
    public String name() {
        return "opencl-ssg";
    }

    @Override
    public String description() {
        return "OpenCL devices, by AMD's SSG extension or by memory of ours";
    }

    @Override
    public int gpuOrder() {
        return 200;
    }

    @Override
    public List<Option<?>> options() {
        List<Option<?>> options = new ArrayList<>(OpenClOptions.all());
        options.addAll(StagingOptions.all());
        return options;
    }

    @Override
    public Availability probe(Options options) {
        return OpenClProbe.probe(options);
    }

    @Override
    public Backend open(Options options) {
        return open(options, route -> route);
    }

    /** Opens it with something between the engine and its routes. */
    Backend open(Options options, UnaryOperator<Route> around) {
        ClContext context = ClContext.open(options);
        OpenClRoutes routes;
        try {
            routes = OpenClRoutes.of(context, options);
        } catch (RuntimeException e) {
            context.leave();
            throw e;
        }
        OpenClDriver driver = new OpenClDriver(context, routes.ssg(), routes.paths());
        return Engine.open(name(), driver, routes.all().stream().map(around).toList(), options);
    }
}
