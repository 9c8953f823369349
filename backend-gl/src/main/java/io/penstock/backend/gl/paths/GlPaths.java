// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.gl.paths;

import io.penstock.Options;
import io.penstock.backend.gl.context.GlContext;
import io.penstock.backend.gl.context.GlFailure;
import io.penstock.backend.gl.options.GlOptions;
import io.penstock.backend.gl.options.GlPath;
import io.penstock.backend.gl.ssg.GlSsg;
import io.penstock.backend.gl.ssg.SsgTokens;
import io.penstock.backend.gl.staged.StagedPath;
import io.penstock.engine.spi.IoPath;
import io.penstock.engine.spi.host.HostPath;
import io.penstock.engine.spi.memory.Slabs;
import io.penstock.engine.spi.ssg.SsgPath;
import io.penstock.engine.spi.ssg.SsgProof;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The paths that {@link GlOptions#PATH} asks for, the best first and the one that takes everything last.
 *
 * @param mapped true if buffers are allocated for a host path: mapped, so that the processor can access them
 * @param ssg AMD's extension as the first paths use it; null if no path uses it
 */
record GlPaths(List<IoPath> all, boolean mapped, @Nullable GlSsg ssg) {

    /**
     * Makes them.
     *
     * @throws io.penstock.BackendUnavailableException if the requested path is not available
     */
    static GlPaths of(GlContext context, Options options) {
        GlPath path = options.get(GlOptions.PATH);
        boolean mapped =
                path == GlPath.HOST || (path == GlPath.AUTO && context.facts().isSoftware());
        List<IoPath> ioPaths = new ArrayList<>();
        if (mapped) {
            ioPaths.add(HostPath.open(options, Slabs.shared()));
        }
        SsgProof proof = proof(context, path, options);
        String why = switch (path) {
            case STAGED -> GlOptions.PATH + "=staged";
            case HOST -> "the buffer is not mapped by this backend";
            case SSG -> "the SSG extension cannot carry this transfer";
            case AUTO ->
                proof.reason()
                        + (mapped ? "; the buffer is not mapped by this backend" : "; the device has its own memory");
        };
        ioPaths.add(new StagedPath(context, options, "through mapped staging buffers: " + why));
        GlSsg ssg = proof.isProven() ? GlSsg.open(context, options) : null;
        if (ssg != null) {
            ioPaths.addAll(0, List.of(new SsgPath(ssg, true), new SsgPath(ssg, false)));
        }
        return new GlPaths(List.copyOf(ioPaths), mapped, ssg);
    }

    private static SsgProof proof(GlContext context, GlPath path, Options options) {
        if (path != GlPath.AUTO && path != GlPath.SSG) {
            return SsgProof.failed("SSG is not selected");
        }
        String missing = SsgTokens.of(options).missing();
        SsgProof proof = missing.isEmpty()
                ? context.call("search for the SSG extension", () -> GlSsg.proof(context, options))
                : SsgProof.failed("no SSG: " + missing);
        if (path == GlPath.SSG && !proof.isProven()) {
            throw GlFailure.unavailable(GlOptions.PATH + "=ssg, but " + proof.reason());
        }
        return proof;
    }
}
