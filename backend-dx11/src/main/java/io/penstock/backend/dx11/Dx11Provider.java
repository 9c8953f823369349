// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.dx11;

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

/** Direct3D 11 devices, on Windows. */
public final class Dx11Provider implements BackendProvider {

    /** Makes one; for {@link java.util.ServiceLoader}. */
    public Dx11Provider() {}

    @Override
    public String name() {
        return "dx11";
    }

    @Override
    public String description() {
        return "Direct3D 11 buffers, by AMD's SSG interface or staging buffers of ours";
    }

    @Override
    public int gpuOrder() {
        return 400;
    }

    @Override
    public List<Option<?>> options() {
        List<Option<?>> options = new ArrayList<>(Dx11Options.all());
        options.addAll(StagingOptions.all());
        return options;
    }

    @Override
    public Availability probe(Options options) {
        return Dx11Probe.probe(options);
    }

    @Override
    public Backend open(Options options) {
        return open(options, route -> route);
    }

    /** Opens it with something between the engine and its routes. */
    Backend open(Options options, UnaryOperator<Route> around) {
        Dx11Device device = Dx11Device.open(options);
        Dx11Routes routes;
        try {
            routes = Dx11Routes.of(device, options);
        } catch (RuntimeException e) {
            device.leave();
            throw e;
        }
        List<Route> all = routes.all().stream().map(around).toList();
        return Engine.open(name(), new Dx11Driver(device, routes), all, options);
    }
}
