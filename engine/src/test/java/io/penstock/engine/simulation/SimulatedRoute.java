// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.simulation;

import io.penstock.CommonOptions;
import io.penstock.Evidence;
import io.penstock.FileOption;
import io.penstock.Options;
import io.penstock.Target;
import io.penstock.Transfer;
import io.penstock.TransferPath;
import io.penstock.engine.host.HostOptions;
import io.penstock.engine.host.HostRoute;
import io.penstock.engine.host.Slabs;
import io.penstock.engine.host.SteppedChannelQueue;
import io.penstock.engine.spi.DeviceMemory;
import io.penstock.engine.spi.NativeFile;
import io.penstock.engine.spi.NativeQueue;
import io.penstock.engine.spi.Route;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/** The route to host memory, on a simulated kernel; its slots are memory that the simulation watches. */
final class SimulatedRoute implements Route {
    private static final Slabs NONE = new Slabs();

    private final Route route;
    private final SimulatedMemory memory;
    private final World world;
    private final boolean isPicky; // takes some transfers only, so that others go by the next route

    private final boolean usesChannels;
    private final int depth;
    private final int threads;

    private SimulatedRoute(Route route, SimulatedKernel kernel, Options options, boolean isPicky) {
        this.route = route;
        this.usesChannels = kernel.usesChannels();
        this.depth = options.get(CommonOptions.LANE_DEPTH);
        this.threads = options.get(HostOptions.THREADS);
        this.memory = kernel.memory;
        this.world = kernel.world;
        this.isPicky = isPicky;
    }

    /** Returns one route or two, which share their lanes. */
    static List<Route> open(Options options, SimulatedKernel kernel, int count) {
        HostRoute host = HostRoute.open(options, NONE, kernel);
        Route route = kernel.memory.isOpaque() ? new SimulatedStaging(host, kernel, options) : host;
        SimulatedRoute general = new SimulatedRoute(route, kernel, options, false);
        return count == 1 ? List.of(general) : List.of(new SimulatedRoute(route, kernel, options, true), general);
    }

    @Override
    public String refusal(Transfer transfer) {
        return isPicky && transfer.length() % 3 == 0 ? "a multiple of three" : "";
    }

    @Override
    public DeviceMemory allocateSlot(long bytes) {
        return memory.allocateSlot(bytes);
    }

    @Override
    public TransferPath path() {
        return route.path();
    }

    @Override
    public Evidence evidence() {
        return route.evidence();
    }

    @Override
    public String reason() {
        return route.reason();
    }

    @Override
    public String remedy() {
        return route.remedy();
    }

    @Override
    public NativeFile open(Path path, Set<FileOption> options) throws IOException {
        return route.open(path, options);
    }

    @Override
    public String refusal(NativeFile file, Target target, @Nullable DeviceMemory memory) {
        return route.refusal(file, target, memory);
    }

    @Override
    public Object sharing() {
        return route.sharing();
    }

    @Override
    public int lanes() {
        return route.lanes();
    }

    @Override
    public NativeQueue openQueue() {
        return new LaneOnly(usesChannels ? channels() : route.openQueue(), world);
    }

    private NativeQueue channels() {
        return new SteppedChannelQueue(depth, threads, new SteppedChannelQueue.Stage() {
            @Override
            public void start(Runnable body) {
                world.start(body);
            }

            @Override
            public void await(BooleanSupplier something, long nanos) {
                world.await(something, nanos);
            }
        });
    }
}
