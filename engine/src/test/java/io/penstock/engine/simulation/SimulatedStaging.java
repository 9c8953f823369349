// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.simulation;

import io.penstock.CommonOptions;
import io.penstock.Evidence;
import io.penstock.FileOption;
import io.penstock.Options;
import io.penstock.TransferPath;
import io.penstock.engine.host.BlockingBytes;
import io.penstock.engine.host.HostRoute;
import io.penstock.engine.spi.DeviceMemory;
import io.penstock.engine.spi.NativeFile;
import io.penstock.engine.spi.NativeQueue;
import io.penstock.engine.spi.Route;
import io.penstock.engine.spi.staging.SlotSizes;
import io.penstock.engine.spi.staging.SteppedStaging;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Set;
import java.util.function.BooleanSupplier;

/** The route through slots to memory that the processor does not reach, over a simulated device. */
final class SimulatedStaging implements Route {
    private final HostRoute host; // opens files
    private final SimulatedKernel kernel;
    private final BlockingBytes bytes;
    private final SlotSizes sizes;
    private final int fillers;

    SimulatedStaging(HostRoute host, SimulatedKernel kernel, Options options) {
        this.host = host;
        this.kernel = kernel;
        bytes = new BlockingBytes(kernel);
        Chance chance = kernel.world.chance;
        fillers = chance.between(1, 3);
        sizes = new SlotSizes(
                4096L * chance.between(1, 4), chance.between(1, 2), fillers, options.get(CommonOptions.LANE_DEPTH));
    }

    @Override
    public TransferPath path() {
        return TransferPath.STAGED;
    }

    @Override
    public Evidence evidence() {
        return Evidence.OBSERVED;
    }

    @Override
    public NativeFile open(Path path, Set<FileOption> options) throws IOException {
        NativeFile file = host.open(path, options);
        try {
            return SteppedStaging.wrap(file, bytes, sizes, options.contains(FileOption.WRITE));
        } catch (RuntimeException e) {
            file.close();
            throw e;
        }
    }

    @Override
    public Object sharing() {
        return this;
    }

    @Override
    public int lanes() {
        return host.lanes();
    }

    @Override
    public NativeQueue openQueue() {
        SimulatedDevice device = new SimulatedDevice(kernel);
        return new SteppedStaging(device, bytes, sizes, fillers, new SteppedStaging.Stage() {
            @Override
            public void start(Runnable body) {
                kernel.world.start(body);
            }

            @Override
            public void await(BooleanSupplier something, long nanos) {
                kernel.world.await(something, nanos);
            }

            @Override
            public long copiesEnded() {
                return device.ended();
            }
        });
    }

    @Override
    public DeviceMemory allocateSlot(long bytes) {
        return kernel.memory.allocateSlot(bytes);
    }
}
