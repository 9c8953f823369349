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

    /** A transfer with less than this does not choose the mapped way by itself. */
    private static final long LEAST_MAPPED_BYTES = 1 << 20;

    private CufileRoutes() {}

    /**
     * Makes them.
     *
     * @throws BackendUnavailableException if a path is asked for that is not to be had here
     */
    static List<Route> of(CudaContext context, Options options) {
        CufilePath path = options.get(CufileOptions.PATH);
        return switch (path) {
            case AUTO -> automatic(context, options);
            case STAGED -> List.of(staged(context, options, CufileOptions.PATH + "=staged"));
            case MAPPED -> mapped(context, options);
            case DIRECT, SYNC, BATCH, STREAM ->
                throw new BackendUnavailableException(
                        CufileOptions.PATH + "=" + Option.show(path) + ", and this version has no such way",
                        Failure.NOT_STARTED,
                        null);
        };
    }

    private static List<Route> automatic(CudaContext context, Options options) {
        Route staged = staged(context, options, "no other way is there");
        return MappedRoute.unavailable(context).isEmpty()
                ? List.of(MappedRoute.of(context, options, LEAST_MAPPED_BYTES), staged)
                : List.of(staged);
    }

    private static List<Route> mapped(CudaContext context, Options options) {
        String why = MappedRoute.unavailable(context);
        if (!why.isEmpty()) {
            throw new BackendUnavailableException(
                    CufileOptions.PATH + "=mapped, but " + why, Failure.NOT_STARTED, null);
        }
        String rest = CufileOptions.PATH + "=mapped is for reads of files that are opened IMMUTABLE";
        return List.of(MappedRoute.of(context, options, 0), staged(context, options, rest));
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
