// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.testing;

import io.penstock.engine.spi.Route;
import io.penstock.engine.spi.RouteFilter;
import io.penstock.tck.Gate;
import io.penstock.tck.GateProvider;
import java.io.IOException;
import java.nio.file.Path;

/** Puts {@link HeldCommands} in front of all routes and gives each subject such a gate, where it is found as a service. */
public final class HoldingRoutes implements RouteFilter, GateProvider {

    /** Makes one; for ServiceLoader. */
    public HoldingRoutes() {}

    @Override
    public Route around(Route route) {
        return route instanceof HoldingRoute ? route : new HoldingRoute(route);
    }

    @Override
    public Gate in(Path folder) throws IOException {
        return HeldCommands.in(folder);
    }
}
