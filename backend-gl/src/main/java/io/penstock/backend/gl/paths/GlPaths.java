// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.gl.paths;

import io.penstock.Options;
import io.penstock.backend.gl.context.GlContext;
import io.penstock.backend.gl.options.GlOptions;
import io.penstock.backend.gl.options.GlPath;
import io.penstock.backend.gl.ssg.GlSsg;
import io.penstock.backend.gl.ssg.SsgTokens;
import io.penstock.backend.gl.staged.StagedPath;
import io.penstock.engine.kit.PathTable;
import io.penstock.engine.kit.host.HostPath;
import io.penstock.engine.kit.memory.Slabs;
import io.penstock.engine.kit.ssg.SsgPath;
import io.penstock.engine.spi.IoPath;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** The paths for {@link GlOptions#PATH}, and AMD's extension as the first ones use it. */
final class GlPaths {

    private final List<IoPath> all;
    private final boolean mapped;
    private @Nullable GlSsg ssg;

    /**
     * Makes them.
     *
     * @throws io.penstock.BackendUnavailableException if the requested path is not available
     */
    GlPaths(GlContext context, Options options) {
        GlPath path = options.get(GlOptions.PATH);
        mapped = path == GlPath.HOST || (path == GlPath.AUTO && context.facts().isSoftware());
        PathTable<GlPath> table = new PathTable<>(GlOptions.PATH, options);
        table.row(
                Set.of(GlPath.AUTO, GlPath.SSG),
                () -> whyNotSsg(context, options),
                "the SSG extension cannot carry this transfer",
                () -> bySsg(context, options));
        table.row(
                Set.of(GlPath.AUTO, GlPath.HOST),
                () -> mapped ? "" : "the device has its own memory",
                "the buffer is not mapped by this backend",
                () -> List.of(HostPath.open(options, Slabs.shared())));
        all = table.open(why -> new StagedPath(context, options, "through mapped staging buffers: " + why));
    }

    private static String whyNotSsg(GlContext context, Options options) {
        String missing = SsgTokens.of(options).missing();
        return missing.isEmpty()
                ? context.call("search for the SSG extension", () -> GlSsg.proof(context, options))
                        .reason()
                : "no SSG: " + missing;
    }

    private List<IoPath> bySsg(GlContext context, Options options) {
        GlSsg opened = GlSsg.open(context, options);
        ssg = opened;
        return List.of(new SsgPath(opened, true), new SsgPath(opened, false));
    }

    List<IoPath> all() {
        return all;
    }

    /** Returns true if buffers are allocated for a host path: mapped, so that the processor can access them. */
    boolean mapped() {
        return mapped;
    }

    /** Returns AMD's extension; null if no path uses it. */
    @Nullable
    GlSsg ssg() {
        return ssg;
    }
}
