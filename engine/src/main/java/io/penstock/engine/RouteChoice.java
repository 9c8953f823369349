// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine;

import io.penstock.BufferRegion;
import io.penstock.Target;
import io.penstock.Transfer;
import io.penstock.TransferPath;
import io.penstock.engine.resource.EngineBuffer;
import io.penstock.engine.resource.EngineFile;
import io.penstock.engine.spi.DeviceMemory;
import io.penstock.engine.spi.NativeFile;
import io.penstock.engine.spi.Route;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Which of a backend's routes takes a transfer.
 *
 * @param name the backend's, for messages
 * @param routes in order of preference
 */
record RouteChoice(String name, List<Route> routes) {

    /** Returns the first route that takes a transfer, or the last one, which has not been asked. */
    int first(Transfer transfer) {
        int last = routes.size() - 1;
        for (int route = 0; route < last; route++) {
            if (refusal(route, transfer).isEmpty()) {
                return route;
            }
        }
        return last;
    }

    boolean isLast(int route) {
        return route == routes.size() - 1;
    }

    /** Returns why a route does not take a transfer; empty if it does. */
    String refusal(int route, Transfer transfer) {
        for (int pair = 0; pair < targets(transfer); pair++) {
            EngineFile file = file(transfer, pair);
            String refusal = file.refusal(route);
            if (refusal.isEmpty()) {
                Target target = target(transfer, pair);
                refusal = routes.get(route).refusal(file.nativeFile(route), target, memory(target));
            }
            if (!refusal.isEmpty()) {
                return refusal;
            }
        }
        String refusal = routes.get(route).refusal(transfer);
        for (int part = 0; part < parts(transfer) && refusal.isEmpty(); part++) {
            NativeFile file = file(transfer, part).nativeFile(route);
            refusal = routes.get(route).refusal(file, transfer.fileOffset(part), transfer.pairLength(part));
        }
        return refusal;
    }

    /** Tells the routes before the one that takes a transfer what they have missed. */
    void chosen(int route, Transfer transfer) {
        for (int earlier = 0; earlier < route; earlier++) {
            for (int part = 0; part < targets(transfer); part++) {
                EngineFile file = file(transfer, part);
                if (file.refusal(earlier).isEmpty()) {
                    DeviceMemory memory = memory(target(transfer, part));
                    routes.get(earlier).passedOver(file.nativeFile(earlier), memory, transfer, part);
                }
            }
        }
    }

    /** Returns how many targets a transfer has; a gather has one. */
    private static int targets(Transfer transfer) {
        return transfer.isGather() ? 1 : transfer.pairs();
    }

    private static Target target(Transfer transfer, int pair) {
        return transfer.isGather() ? transfer.target() : transfer.target(pair);
    }

    private static int parts(Transfer transfer) {
        return transfer.isGather() ? 0 : transfer.pairs();
    }

    private static EngineFile file(Transfer transfer, int pair) {
        return (EngineFile) transfer.fileRegion(pair).file();
    }

    private static @Nullable DeviceMemory memory(Target target) {
        return target instanceof BufferRegion region ? ((EngineBuffer) region.buffer()).memory() : null;
    }

    boolean isDirect(int route) {
        return routes.get(route).path() == TransferPath.DIRECT;
    }

    /** Returns why a transfer does not go directly; empty if it does. */
    String whyNotDirect(Transfer transfer) {
        int chosen = first(transfer);
        if (isDirect(chosen)) {
            return "";
        }
        for (int route = 0; route < routes.size(); route++) {
            if (isDirect(route)) {
                return refusal(route, transfer);
            }
        }
        String reason = routes.get(chosen).reason();
        return "backend " + name + " has no direct path, only "
                + routes.stream().map(Route::path).distinct().toList()
                + (reason.isEmpty() ? "" : ": " + reason);
    }
}
