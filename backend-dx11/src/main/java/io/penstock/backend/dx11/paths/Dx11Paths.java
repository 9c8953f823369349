// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.dx11.paths;

import io.penstock.Options;
import io.penstock.backend.dx11.Dx11Options;
import io.penstock.backend.dx11.Dx11Path;
import io.penstock.backend.dx11.device.Dx11Device;
import io.penstock.backend.dx11.device.Dx11Failure;
import io.penstock.backend.dx11.ssg.Dx11Ssg;
import io.penstock.backend.dx11.ssg.Dx11SsgPath;
import io.penstock.backend.dx11.staged.StagedPath;
import io.penstock.engine.spi.IoPath;
import io.penstock.engine.spi.ssg.SsgRefusal;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The paths that {@link Dx11Options#PATH} asks for, the best first and the one that takes everything last.
 *
 * @param all the paths
 * @param ssg AMD's interface; null if no path uses it. The caller releases the first reference
 * @param whyNotSsg why it is null
 */
record Dx11Paths(List<IoPath> all, @Nullable Dx11Ssg ssg, String whyNotSsg) {

    /**
     * Makes them.
     *
     * @throws io.penstock.BackendUnavailableException if AMD's interface is requested but not available
     */
    static Dx11Paths of(Dx11Device device, Options options) {
        Dx11Path path = options.get(Dx11Options.PATH);
        Dx11Ssg ssg = null;
        String why = path == Dx11Path.STAGED ? Dx11Options.PATH + "=staged" : Dx11Ssg.whyNot(options);
        if (why.isEmpty()) {
            try {
                ssg = Dx11Ssg.open(device, options);
            } catch (SsgRefusal refused) {
                why = String.valueOf(refused.getMessage());
            }
        }
        if (ssg == null && path == Dx11Path.SSG) {
            throw Dx11Failure.unavailable(Dx11Options.PATH + "=ssg, but " + why);
        }
        String reason =
                "through staging buffers: " + (ssg == null ? why : "AMD's interface cannot carry this transfer");
        StagedPath staged;
        try {
            staged = new StagedPath(device, options, reason);
        } catch (RuntimeException e) {
            if (ssg != null) {
                ssg.leave();
            }
            throw e;
        }
        return new Dx11Paths(ssg == null ? List.of(staged) : List.of(new Dx11SsgPath(ssg), staged), ssg, why);
    }

    /** Returns the fact about AMD's interface for the capabilities. */
    String ssgFact() {
        return ssg == null ? "SSG: " + whyNotSsg : "SSG: IAmdDxExtSSG " + ssg.version();
    }
}
