// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.cufile.routes;

import io.penstock.BackendUnavailableException;
import io.penstock.Failure;
import io.penstock.Option;
import io.penstock.Options;
import io.penstock.TransferPath;
import io.penstock.backend.cufile.CufileOptions;
import io.penstock.backend.cufile.CufilePath;
import io.penstock.backend.cufile.cuda.CudaContext;
import io.penstock.backend.cufile.driver.CuFileMode;
import io.penstock.backend.cufile.file.CuFileHandles;
import io.penstock.backend.cufile.mapped.MappedRoute;
import io.penstock.backend.cufile.register.CuFileSession;
import io.penstock.backend.cufile.report.CuFileLibrary;
import io.penstock.backend.cufile.staged.StagedRoute;
import io.penstock.engine.spi.Route;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The routes that {@link CufileOptions#PATH} asks for, the best first and the one that takes everything last: each takes
 * a transfer or says why not, and the next is asked.
 *
 * <table>
 * <caption>Which routes there are, in their order</caption>
 * <tr><td>auto</td><td>cuFile direct, where that may be: whole blocks, registered memory, parts of {@link CufileOptions#DIRECT_BYTES} at least; mapped: reads of at least 1
 * MiB of immutable files, from the third on, the second having them registered; staged. Never cuFile's own bouncing, which is slower than our slots</td></tr>
 * <tr><td>direct</td><td>cuFile direct; staged</td></tr>
 * <tr><td>sync, batch, stream</td><td>cuFile direct; cuFile, whichever way it goes; staged: what it refuses</td></tr>
 * <tr><td>mapped</td><td>mapped: reads of immutable files; staged</td></tr>
 * <tr><td>staged</td><td>staged</td></tr>
 * </table>
 *
 * @param cuFile what the routes have of cuFile; null where none is cuFile's
 */
public record CufileRoutes(List<Route> all, @Nullable CuFileSession cuFile) {

    /**
     * Makes them.
     *
     * @param storages finds out what files lie on
     * @throws BackendUnavailableException if a path is asked for that is not to be had here
     */
    static CufileRoutes of(CudaContext context, Options options, CuFileHandles.Storages storages) {
        CufilePath path = options.get(CufileOptions.PATH);
        return switch (path) {
            case AUTO -> automatic(context, options, storages);
            case STAGED -> new CufileRoutes(List.of(staged(context, options, CufileOptions.PATH + "=staged")), null);
            case MAPPED -> mapped(context, options);
            case DIRECT, SYNC -> ofCuFile(context, options, storages, CuFileMode.SYNC);
            case BATCH -> ofCuFile(context, options, storages, CuFileMode.BATCH);
            case STREAM -> ofCuFile(context, options, storages, CuFileMode.STREAM);
        };
    }

    private static CufileRoutes automatic(CudaContext context, Options options, CuFileHandles.Storages storages) {
        List<Route> routes = new ArrayList<>();
        CuFileSession cuFile = null;
        String whyNotDirect = CuFileLibrary.find(options, storages.nvidiaFs()).whyNotDirect();
        if (whyNotDirect.isEmpty()) {
            cuFile = new CuFileSession(context, options, storages);
            routes.add(new CuFileRoute(
                    cuFile, CuFileMode.SYNC, true, CuFileSizes.of(options), options.get(CufileOptions.DIRECT_BYTES)));
        }
        if (MappedRoute.unavailable(context).isEmpty()) {
            routes.add(MappedRoute.of(context, options, MappedRoute.Takes.WORTHWHILE));
        }
        routes.add(
                staged(context, options, whyNotDirect.isEmpty() ? "cuFile does not go directly here" : whyNotDirect));
        return new CufileRoutes(routes, cuFile);
    }

    private static CufileRoutes mapped(CudaContext context, Options options) {
        String why = MappedRoute.unavailable(context);
        if (!why.isEmpty()) {
            throw unavailable(CufilePath.MAPPED, why);
        }
        String rest = CufileOptions.PATH + "=mapped is for reads of files that are opened IMMUTABLE";
        return new CufileRoutes(
                List.of(MappedRoute.of(context, options, MappedRoute.Takes.ALL), staged(context, options, rest)), null);
    }

    private static CufileRoutes ofCuFile(
            CudaContext context, Options options, CuFileHandles.Storages storages, CuFileMode mode) {
        CufilePath path = options.get(CufileOptions.PATH);
        String why = CuFileLibrary.find(options).whyNot(mode);
        if (!why.isEmpty()) {
            throw unavailable(path, why);
        }
        CuFileSession cuFile = new CuFileSession(context, options, storages);
        CuFileSizes sizes = CuFileSizes.of(options);
        List<Route> routes = new ArrayList<>();
        routes.add(new CuFileRoute(cuFile, mode, true, sizes, 0));
        if (path != CufilePath.DIRECT) {
            routes.add(new CuFileRoute(cuFile, mode, false, sizes, 0));
        }
        routes.add(staged(context, options, "cuFile does not take this"));
        return new CufileRoutes(routes, cuFile);
    }

    private static BackendUnavailableException unavailable(CufilePath path, String why) {
        return new BackendUnavailableException(
                CufileOptions.PATH + "=" + Option.show(path) + ", but " + why, Failure.NOT_STARTED, null);
    }

    private static Route staged(CudaContext context, Options options, String why) {
        return new StagedRoute(context, options, "through pinned slots: " + why);
    }

    Set<TransferPath> paths() {
        Set<TransferPath> paths = EnumSet.noneOf(TransferPath.class);
        all.forEach(route -> paths.add(route.path()));
        return paths;
    }
}
