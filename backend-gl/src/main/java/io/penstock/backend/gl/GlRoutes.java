// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.gl;

import io.penstock.Options;
import io.penstock.TransferPath;
import io.penstock.engine.host.HostRoute;
import io.penstock.engine.host.Slabs;
import io.penstock.engine.spi.Route;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;

/**
 * The routes that {@link GlOptions#PATH} asks for, the best first and the one that takes everything last.
 *
 * @param mapped whether buffers are allocated for the first: mapped, so that the processor reaches them
 */
record GlRoutes(List<Route> all, boolean mapped) {

    /**
     * Makes them.
     *
     * @throws io.penstock.BackendUnavailableException if host I/O is not to be had as options want it
     */
    static GlRoutes of(GlContext context, Options options) {
        GlPath path = options.get(GlOptions.PATH);
        boolean mapped =
                path == GlPath.HOST || (path == GlPath.AUTO && context.facts().isSoftware());
        if (!mapped) {
            String why = path == GlPath.STAGED ? GlOptions.PATH + "=staged" : "the device's memory is its own";
            return new GlRoutes(List.of(staged(context, options, why)), false);
        }
        Route host = HostRoute.open(options, Slabs.shared());
        return new GlRoutes(List.of(host, staged(context, options, "the buffer is not mapped by this backend")), true);
    }

    private static Route staged(GlContext context, Options options, String why) {
        return new StagedRoute(context, options, "through mapped slots: " + why);
    }

    Set<TransferPath> paths() {
        Set<TransferPath> paths = EnumSet.noneOf(TransferPath.class);
        all.forEach(route -> paths.add(route.path()));
        return paths;
    }
}
