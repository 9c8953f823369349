// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.gl;

import io.penstock.Options;
import io.penstock.TransferPath;
import io.penstock.engine.host.HostRoute;
import io.penstock.engine.host.Slabs;
import io.penstock.engine.spi.Route;
import io.penstock.engine.spi.ssg.SsgProof;
import io.penstock.engine.spi.ssg.SsgRoute;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The routes that {@link GlOptions#PATH} asks for, the best first and the one that takes everything last.
 *
 * @param mapped whether buffers are allocated for a route of the host's: mapped, so that the processor reaches them
 * @param ssg what the first routes have of AMD's extension; null where none is the extension's
 */
record GlRoutes(List<Route> all, boolean mapped, @Nullable GlSsg ssg) {

    /**
     * Makes them.
     *
     * @throws io.penstock.BackendUnavailableException if a path is asked for that is not to be had here
     */
    static GlRoutes of(GlContext context, Options options) {
        GlPath path = options.get(GlOptions.PATH);
        boolean mapped =
                path == GlPath.HOST || (path == GlPath.AUTO && context.facts().isSoftware());
        List<Route> routes = new ArrayList<>();
        if (mapped) {
            routes.add(HostRoute.open(options, Slabs.shared()));
        }
        SsgProof proof = proof(context, path, options);
        String why = switch (path) {
            case STAGED -> GlOptions.PATH + "=staged";
            case HOST -> "the buffer is not mapped by this backend";
            case SSG -> "the SSG extension does not take this";
            case AUTO ->
                proof.reason() + (mapped ? "; the buffer is not mapped by this backend" : "; its memory is its own");
        };
        routes.add(new StagedRoute(context, options, "through mapped slots: " + why));
        GlSsg ssg = proof.isProven() ? GlSsg.open(context, options) : null;
        if (ssg != null) {
            routes.addAll(0, List.of(new SsgRoute(ssg, true), new SsgRoute(ssg, false)));
        }
        return new GlRoutes(List.copyOf(routes), mapped, ssg);
    }

    private static SsgProof proof(GlContext context, GlPath path, Options options) {
        if (path != GlPath.AUTO && path != GlPath.SSG) {
            return SsgProof.failed("not asked for");
        }
        String missing = SsgTokens.of(options).missing();
        SsgProof proof = missing.isEmpty()
                ? context.call("a look for the SSG extension", () -> GlSsg.proof(context, options))
                : SsgProof.failed("no SSG: " + missing);
        if (path == GlPath.SSG && !proof.isProven()) {
            throw GlFailure.unavailable(GlOptions.PATH + "=ssg, but " + proof.reason());
        }
        return proof;
    }

    Set<TransferPath> paths() {
        Set<TransferPath> paths = EnumSet.noneOf(TransferPath.class);
        all.forEach(route -> paths.add(route.path()));
        return paths;
    }
}
