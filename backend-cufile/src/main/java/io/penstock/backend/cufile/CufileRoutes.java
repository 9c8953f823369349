// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.cufile;

import io.penstock.BackendUnavailableException;
import io.penstock.Failure;
import io.penstock.Option;
import io.penstock.Options;
import io.penstock.TransferPath;
import io.penstock.engine.spi.Route;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;

/** The routes that {@link CufileOptions#PATH} asks for, the best first and the one that takes everything last. */
final class CufileRoutes {

    private CufileRoutes() {}

    /**
     * Makes them.
     *
     * @throws BackendUnavailableException if a path is asked for that is not to be had here
     */
    static List<Route> of(CudaContext context, Options options) {
        CufilePath path = options.get(CufileOptions.PATH);
        return switch (path) {
            case AUTO -> List.of(staged(context, options, "no other way is there"));
            case STAGED -> List.of(staged(context, options, CufileOptions.PATH + "=staged"));
            case DIRECT, SYNC, BATCH, STREAM, MAPPED ->
                throw new BackendUnavailableException(
                        CufileOptions.PATH + "=" + Option.show(path) + ", and this version has no such way",
                        Failure.NOT_STARTED,
                        null);
        };
    }

    private static Route staged(CudaContext context, Options options, String why) {
        return new StagedRoute(context, options, "through pinned slots: " + why, "");
    }

    static Set<TransferPath> paths(List<Route> routes) {
        Set<TransferPath> paths = EnumSet.noneOf(TransferPath.class);
        routes.forEach(route -> paths.add(route.path()));
        return paths;
    }
}
