// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine;

import io.penstock.Backend;
import io.penstock.Options;
import io.penstock.engine.spi.DeviceDriver;
import io.penstock.engine.spi.Route;
import io.penstock.engine.spi.RouteFilter;
import java.util.List;
import java.util.ServiceLoader;

/** Where a provider turns its driver into a {@link Backend}. */
public final class Engine {

    private Engine() {}

    /**
     * Opens a backend over a driver, which it closes with the backend, or at once if this fails.
     *
     * @param routes in order of preference; the last one takes every file and every target that the device has
     * @throws io.penstock.BackendUnavailableException if a route's queue is not to be had
     */
    public static Backend open(String name, DeviceDriver driver, List<Route> routes, Options options) {
        return EngineBackend.open(name, driver, filtered(routes), options);
    }

    private static List<Route> filtered(List<Route> routes) {
        List<Route> filtered = routes;
        for (RouteFilter filter : ServiceLoader.load(RouteFilter.class)) {
            filtered = filtered.stream().map(filter::around).toList();
        }
        return filtered;
    }
}
