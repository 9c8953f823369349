// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.cufile;

import io.penstock.Availability;
import io.penstock.Backend;
import io.penstock.Option;
import io.penstock.Options;
import io.penstock.engine.Engine;
import io.penstock.engine.spi.Route;
import io.penstock.engine.staging.StagingOptions;
import io.penstock.spi.BackendProvider;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.function.UnaryOperator;

/** NVIDIA GPUs, wherever their driver is. */
public final class CufileProvider implements BackendProvider {

    /** Makes one; for {@link java.util.ServiceLoader}. */
    public CufileProvider() {}

    @Override
    public String name() {
        return "cufile";
    }

    @Override
    public String description() {
        return "NVIDIA GPUs, by cuFile or by pinned memory of ours";
    }

    @Override
    public int gpuOrder() {
        return 100;
    }

    @Override
    public List<Option<?>> options() {
        List<Option<?>> options = new ArrayList<>(CufileOptions.all());
        options.addAll(StagingOptions.all());
        return options;
    }

    @Override
    public Availability probe(Options options) {
        return CudaProbe.probe(options);
    }

    @Override
    public Backend open(Options options) {
        return open(options, route -> route);
    }

    /** Opens it with something between the engine and its routes. */
    Backend open(Options options, UnaryOperator<Route> around) {
        CudaContext context = CudaContext.open(options);
        List<Route> routes;
        try {
            routes = CufileRoutes.of(context, options);
        } catch (RuntimeException e) {
            context.leave();
            throw e;
        }
        CudaDriver driver = new CudaDriver(context, CufileRoutes.paths(routes), Set.of(context.toString()));
        return Engine.open(name(), driver, routes.stream().map(around).toList(), options);
    }
}
