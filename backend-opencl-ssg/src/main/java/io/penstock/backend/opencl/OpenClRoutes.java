// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.opencl;

import io.penstock.BackendUnavailableException;
import io.penstock.Failure;
import io.penstock.Option;
import io.penstock.Options;
import io.penstock.TransferPath;
import io.penstock.engine.spi.Route;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;

/**
 * The routes that {@link OpenClOptions#PATH} asks for, the best first and the one that takes everything last: each takes a
 * transfer or says why not, and the next is asked.
 */
record OpenClRoutes(List<Route> all) {

    /**
     * Makes them.
     *
     * @throws BackendUnavailableException if a path is asked for that is not to be had here
     */
    static OpenClRoutes of(ClContext context, Options options) {
        OpenClPath path = options.get(OpenClOptions.PATH);
        String whyNotMap = MapRoute.unavailable(context.device());
        if (path == OpenClPath.MAP && !whyNotMap.isEmpty()) {
            throw new BackendUnavailableException(
                    OpenClOptions.PATH + "=" + Option.show(path) + ", but " + whyNotMap, Failure.NOT_STARTED, null);
        }
        List<Route> routes = new ArrayList<>();
        if (path != OpenClPath.STAGED && whyNotMap.isEmpty()) {
            MapRoute.Takes takes = path == OpenClPath.MAP ? MapRoute.Takes.ALL : MapRoute.Takes.WORTHWHILE;
            routes.add(new MapRoute(context, options, takes));
        }
        String why = switch (path) {
            case AUTO -> whyNotMap.isEmpty() ? "not by a map" : whyNotMap;
            case MAP -> "not by a map";
            case STAGED -> OpenClOptions.PATH + "=staged";
        };
        routes.add(new StagedRoute(context, options, "through slots of ours: " + why, ""));
        return new OpenClRoutes(routes);
    }

    Set<TransferPath> paths() {
        Set<TransferPath> paths = EnumSet.noneOf(TransferPath.class);
        all.forEach(route -> paths.add(route.path()));
        return paths;
    }
}
