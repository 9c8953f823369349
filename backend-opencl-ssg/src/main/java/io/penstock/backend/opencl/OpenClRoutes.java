// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.opencl;

import io.penstock.Options;
import io.penstock.TransferPath;
import io.penstock.engine.spi.Route;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;

/**
 * The routes that {@link OpenClOptions#PATH} asks for, the best first and the one that takes everything last: each takes a
 * transfer or says why not, and the next is asked.
 */
record OpenClRoutes(List<Route> all) {

    /** Makes them. */
    static OpenClRoutes of(ClContext context, Options options) {
        String why = options.get(OpenClOptions.PATH) == OpenClPath.AUTO
                ? "every device takes this way"
                : OpenClOptions.PATH + "=staged";
        return new OpenClRoutes(List.of(new StagedRoute(context, options, "through slots of ours: " + why, "")));
    }

    Set<TransferPath> paths() {
        Set<TransferPath> paths = EnumSet.noneOf(TransferPath.class);
        all.forEach(route -> paths.add(route.path()));
        return paths;
    }
}
