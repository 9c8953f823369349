// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.opencl;

import io.penstock.BackendUnavailableException;
import io.penstock.Failure;
import io.penstock.Option;
import io.penstock.Options;
import io.penstock.TransferPath;
import io.penstock.engine.spi.Route;
import io.penstock.engine.spi.ssg.SsgProof;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The routes that {@link OpenClOptions#PATH} asks for, the best first and the one that takes everything last: each takes a
 * transfer or says why not, and the next is asked.
 *
 * @param ssg what the routes have of the extension; null where none is the extension's
 */
record OpenClRoutes(List<Route> all, @Nullable ClSsg ssg) {

    /**
     * Makes them.
     *
     * @throws BackendUnavailableException if a path is asked for that is not to be had here
     */
    static OpenClRoutes of(ClContext context, Options options) {
        OpenClPath path = options.get(OpenClOptions.PATH);
        String whyNotMap = MapRoute.unavailable(context.device());
        SsgProof proof = path == OpenClPath.AUTO || path == OpenClPath.SSG ? ClSsg.proof(context, options) : null;
        if (path == OpenClPath.MAP && !whyNotMap.isEmpty()) {
            throw unavailable(path, whyNotMap);
        }
        if (path == OpenClPath.SSG && proof != null && !proof.isProven()) {
            throw unavailable(path, proof.reason());
        }
        List<Route> routes = new ArrayList<>();
        ClSsg ssg = proof != null && proof.isProven() ? ClSsg.open(context, options) : null;
        if (ssg != null) {
            routes.add(new ClSsgRoute(ssg, true));
            routes.add(new ClSsgRoute(ssg, false));
        }
        if ((path == OpenClPath.AUTO || path == OpenClPath.MAP) && whyNotMap.isEmpty()) {
            MapRoute.Takes takes = path == OpenClPath.MAP ? MapRoute.Takes.ALL : MapRoute.Takes.WORTHWHILE;
            routes.add(new MapRoute(context, options, takes));
        }
        String why = switch (path) {
            case AUTO ->
                (proof == null ? "" : proof.reason()) + (whyNotMap.isEmpty() ? "; not by a map" : "; " + whyNotMap);
            case SSG -> "the SSG extension does not take this";
            case MAP -> "not by a map";
            case STAGED -> OpenClOptions.PATH + "=staged";
        };
        routes.add(new StagedRoute(context, options, "through slots of ours: " + why));
        return new OpenClRoutes(routes, ssg);
    }

    private static BackendUnavailableException unavailable(OpenClPath path, String why) {
        return new BackendUnavailableException(
                OpenClOptions.PATH + "=" + Option.show(path) + ", but " + why, Failure.NOT_STARTED, null);
    }

    Set<TransferPath> paths() {
        Set<TransferPath> paths = EnumSet.noneOf(TransferPath.class);
        all.forEach(route -> paths.add(route.path()));
        return paths;
    }
}
