// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.opencl.paths;

import io.penstock.BackendUnavailableException;
import io.penstock.Failure;
import io.penstock.Option;
import io.penstock.Options;
import io.penstock.backend.opencl.OpenClOptions;
import io.penstock.backend.opencl.OpenClPath;
import io.penstock.backend.opencl.context.ClContext;
import io.penstock.backend.opencl.mapped.MapPath;
import io.penstock.backend.opencl.ssg.ClSsg;
import io.penstock.backend.opencl.ssg.ClSsgPath;
import io.penstock.backend.opencl.staged.StagedPath;
import io.penstock.engine.spi.IoPath;
import io.penstock.engine.spi.ssg.SsgProof;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The paths for {@link OpenClOptions#PATH}, the best first, and last the one that takes everything: each takes a
 * transfer or returns why not, and the next one is tried.
 *
 * @param ssg the extension's state for the paths; null if no path uses it
 */
record OpenClPaths(List<IoPath> all, @Nullable ClSsg ssg) {

    /**
     * Creates the paths.
     *
     * @throws BackendUnavailableException if a requested path is not available here
     */
    static OpenClPaths of(ClContext context, Options options) {
        OpenClPath path = options.get(OpenClOptions.PATH);
        String whyNotMap = MapPath.unavailable(context.device());
        SsgProof proof = path == OpenClPath.AUTO || path == OpenClPath.SSG ? ClSsg.proof(context, options) : null;
        if (path == OpenClPath.MAP && !whyNotMap.isEmpty()) {
            throw unavailable(path, whyNotMap);
        }
        if (path == OpenClPath.SSG && proof != null && !proof.isProven()) {
            throw unavailable(path, proof.reason());
        }
        List<IoPath> ioPaths = new ArrayList<>();
        if ((path == OpenClPath.AUTO || path == OpenClPath.MAP) && whyNotMap.isEmpty()) {
            MapPath.Takes takes = path == OpenClPath.MAP ? MapPath.Takes.ALL : MapPath.Takes.WORTHWHILE;
            ioPaths.add(new MapPath(context, options, takes));
        }
        String why = switch (path) {
            case AUTO ->
                (proof == null ? "" : proof.reason()) + (whyNotMap.isEmpty() ? "; not mapped" : "; " + whyNotMap);
            case SSG -> "the SSG extension cannot carry this transfer";
            case MAP -> "a map cannot carry this transfer";
            case STAGED -> OpenClOptions.PATH + "=staged";
        };
        ioPaths.add(new StagedPath(context, options, "through staging buffers: " + why));
        // Last, since it allocates: the other paths may refuse the options.
        ClSsg ssg = proof != null && proof.isProven() ? ClSsg.open(context, options) : null;
        if (ssg != null) {
            ioPaths.addAll(0, List.of(new ClSsgPath(ssg, true), new ClSsgPath(ssg, false)));
        }
        return new OpenClPaths(ioPaths, ssg);
    }

    private static BackendUnavailableException unavailable(OpenClPath path, String why) {
        return new BackendUnavailableException(
                OpenClOptions.PATH + "=" + Option.show(path) + ", but " + why, Failure.NOT_STARTED, null);
    }
}
