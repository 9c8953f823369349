// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.simulation;

import io.penstock.CommonOptions;
import io.penstock.Evidence;
import io.penstock.FileOption;
import io.penstock.Options;
import io.penstock.Target;
import io.penstock.Transfer;
import io.penstock.TransferPath;
import io.penstock.engine.host.queue.SteppedChannelQueue;
import io.penstock.engine.kit.host.HostPath;
import io.penstock.engine.kit.host.HostPaths;
import io.penstock.engine.kit.memory.Slabs;
import io.penstock.engine.options.HostOptions;
import io.penstock.engine.spi.DeviceMemory;
import io.penstock.engine.spi.IoPath;
import io.penstock.engine.spi.NativeFile;
import io.penstock.engine.spi.NativeQueue;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/** The path to host memory, on a simulated kernel; its bounce buffers are memory that the simulation watches. */
final class SimulatedPath implements IoPath {
    private static final Slabs NONE = new Slabs();

    private final IoPath ioPath;
    private final SimulatedMemory memory;
    private final World world;
    private final boolean isPicky; // takes some transfers only, so that others go by the next path

    private final boolean usesChannels;
    private final int depth;
    private final int threads;

    private SimulatedPath(IoPath ioPath, SimulatedKernel kernel, Options options, boolean isPicky) {
        this.ioPath = ioPath;
        this.usesChannels = kernel.usesChannels();
        this.depth = options.get(CommonOptions.QUEUE_DEPTH);
        this.threads = options.get(HostOptions.THREADS);
        this.memory = kernel.memory;
        this.world = kernel.world;
        this.isPicky = isPicky;
    }

    /** Returns one path or two, which share their I/O queues. */
    static List<IoPath> open(Options options, SimulatedKernel kernel, int count) {
        HostPath host = HostPaths.open(options, NONE, kernel);
        IoPath ioPath = kernel.memory.isOpaque() ? new SimulatedStaging(host, kernel, options) : host;
        SimulatedPath general = new SimulatedPath(ioPath, kernel, options, false);
        return count == 1 ? List.of(general) : List.of(new SimulatedPath(ioPath, kernel, options, true), general);
    }

    @Override
    public String refusal(Transfer transfer) {
        return isPicky && transfer.length() % 3 == 0 ? "a multiple of three" : "";
    }

    @Override
    public DeviceMemory allocateBounceBuffer(long bytes) {
        return memory.allocateBounceBuffer(bytes);
    }

    @Override
    public TransferPath path() {
        return ioPath.path();
    }

    @Override
    public Evidence evidence() {
        return ioPath.evidence();
    }

    @Override
    public String reason() {
        return ioPath.reason();
    }

    @Override
    public String remedy() {
        return ioPath.remedy();
    }

    @Override
    public NativeFile open(Path path, Set<FileOption> options) throws IOException {
        return ioPath.open(path, options);
    }

    @Override
    public String refusal(NativeFile file, Target target, @Nullable DeviceMemory memory) {
        return ioPath.refusal(file, target, memory);
    }

    @Override
    public Object sharing() {
        return ioPath.sharing();
    }

    @Override
    public int ioQueues() {
        return ioPath.ioQueues();
    }

    @Override
    public NativeQueue openQueue() {
        return new QueueOnly(usesChannels ? channels() : ioPath.openQueue(), world);
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
