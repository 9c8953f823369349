// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.dx11.paths;

import io.penstock.Options;
import io.penstock.backend.dx11.Dx11Options;
import io.penstock.backend.dx11.Dx11Path;
import io.penstock.backend.dx11.device.Dx11Device;
import io.penstock.backend.dx11.ssg.Dx11Ssg;
import io.penstock.backend.dx11.ssg.Dx11SsgPath;
import io.penstock.backend.dx11.staged.StagedPath;
import io.penstock.engine.kit.PathTable;
import io.penstock.engine.kit.ssg.SsgRefusal;
import io.penstock.engine.spi.IoPath;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** The paths for {@link Dx11Options#PATH}, and AMD's interface, of which the caller releases the first reference. */
final class Dx11Paths {

    private final List<IoPath> all;
    private @Nullable Dx11Ssg ssg;
    private String whyNotSsg = Dx11Options.PATH + "=staged";

    /**
     * Makes them.
     *
     * @throws io.penstock.BackendUnavailableException if AMD's interface is requested but not available
     */
    Dx11Paths(Dx11Device device, Options options) {
        PathTable<Dx11Path> table = new PathTable<>(Dx11Options.PATH, options);
        table.row(
                Set.of(Dx11Path.AUTO, Dx11Path.SSG),
                () -> whyNotSsg = open(device, options),
                "AMD's interface cannot carry this transfer",
                () -> ssg == null ? List.of() : List.of(new Dx11SsgPath(ssg)));
        try {
            all = table.open(why -> new StagedPath(device, options, "through staging buffers: " + why));
        } catch (RuntimeException e) {
            if (ssg != null) {
                ssg.leave();
            }
            throw e;
        }
    }

    /** Opens AMD's interface; returns why there is none, or an empty string. */
    private String open(Dx11Device device, Options options) {
        String why = Dx11Ssg.whyNot(options);
        try {
            ssg = why.isEmpty() ? Dx11Ssg.open(device, options) : null;
            return why;
        } catch (SsgRefusal refused) {
            return String.valueOf(refused.getMessage());
        }
    }

    List<IoPath> all() {
        return all;
    }

    /** Returns AMD's interface; null if no path uses it. */
    @Nullable
    Dx11Ssg ssg() {
        return ssg;
    }

    /** Returns the fact about AMD's interface for the capabilities. */
    String ssgFact() {
        return ssg == null ? "SSG: " + whyNotSsg : "SSG: IAmdDxExtSSG " + ssg.version();
    }
}
