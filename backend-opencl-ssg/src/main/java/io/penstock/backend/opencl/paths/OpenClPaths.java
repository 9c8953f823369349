// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.opencl.paths;

import io.penstock.Options;
import io.penstock.backend.opencl.OpenClOptions;
import io.penstock.backend.opencl.OpenClPath;
import io.penstock.backend.opencl.context.ClContext;
import io.penstock.backend.opencl.mapped.MapPath;
import io.penstock.backend.opencl.ssg.ClSsg;
import io.penstock.backend.opencl.ssg.ClSsgPath;
import io.penstock.backend.opencl.staged.StagedPath;
import io.penstock.engine.kit.PathTable;
import io.penstock.engine.spi.IoPath;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** The paths for {@link OpenClOptions#PATH}, and the state of AMD's extension for them. */
final class OpenClPaths {

    private final List<IoPath> all;
    private @Nullable ClSsg ssg;

    /**
     * Creates the paths.
     *
     * @throws io.penstock.BackendUnavailableException if a requested path is not available here
     */
    OpenClPaths(ClContext context, Options options) {
        boolean asked = options.get(OpenClOptions.PATH) == OpenClPath.MAP;
        PathTable<OpenClPath> table = new PathTable<>(OpenClOptions.PATH, options);
        table.row(
                Set.of(OpenClPath.AUTO, OpenClPath.SSG),
                () -> ClSsg.proof(context, options).reason(),
                "the SSG extension cannot carry this transfer",
                () -> bySsg(context, options));
        table.row(
                Set.of(OpenClPath.AUTO, OpenClPath.MAP),
                () -> MapPath.unavailable(context.device()),
                "a map cannot carry this transfer",
                () -> List.of(new MapPath(context, options, asked ? MapPath.Takes.ALL : MapPath.Takes.WORTHWHILE)));
        all = table.open(why -> new StagedPath(context, options, "through staging buffers: " + why));
    }

    private List<IoPath> bySsg(ClContext context, Options options) {
        ClSsg opened = ClSsg.open(context, options);
        ssg = opened;
        return List.of(new ClSsgPath(opened, true), new ClSsgPath(opened, false));
    }

    List<IoPath> all() {
        return all;
    }

    /** Returns the extension's state; null if no path uses it. */
    @Nullable
    ClSsg ssg() {
        return ssg;
    }
}
