// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.dx11;

import io.penstock.Option;
import io.penstock.Options;
import io.penstock.TransferPath;
import io.penstock.engine.spi.Route;
import io.penstock.engine.spi.ssg.SsgRefusal;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The routes that {@link Dx11Options#PATH} asks for, the best first and the one that takes everything last.
 *
 * @param all the routes
 * @param ssg AMD's interface; null where no route has it. Its first use is the caller's to end
 * @param whyNotSsg why it has none
 */
record Dx11Routes(List<Route> all, @Nullable Dx11Ssg ssg, String whyNotSsg) {

    /**
     * Makes them.
     *
     * @throws io.penstock.BackendUnavailableException if AMD's interface is asked for and is not to be had
     */
    static Dx11Routes of(Dx11Device device, Options options) {
        Dx11Path path = options.get(Dx11Options.PATH);
        Dx11Ssg ssg = null;
        String why = path == Dx11Path.STAGED ? Dx11Options.PATH + "=staged" : whyNot(options);
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
        List<Route> routes = new ArrayList<>();
        if (ssg != null) {
            routes.add(new Dx11SsgRoute(ssg));
        }
        String reason = "through staging buffers: " + (ssg == null ? why : "AMD's interface does not take this");
        routes.add(new StagedRoute(device, options, reason));
        return new Dx11Routes(routes, ssg, why);
    }

    /** Returns which options are wanting for AMD's interface; an empty string if none is. */
    static String whyNot(Options options) {
        List<Option<String>> missing = SsgTerms.missing(options);
        return missing.isEmpty()
                ? ""
                : "AMD's manual does not print what its interface needs, nor do "
                        + missing.stream().map(Option::name).collect(Collectors.joining(", "))
                        + " say it: no SSG";
    }

    /** Returns what capabilities say of AMD's interface. */
    String ssgFact() {
        return ssg == null ? "SSG: " + whyNotSsg : "SSG: IAmdDxExtSSG " + ssg.version();
    }

    Set<TransferPath> paths() {
        Set<TransferPath> paths = EnumSet.noneOf(TransferPath.class);
        all.forEach(route -> paths.add(route.path()));
        return paths;
    }
}
