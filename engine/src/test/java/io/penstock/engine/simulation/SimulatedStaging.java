// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.simulation;

import io.penstock.Evidence;
import io.penstock.FileOption;
import io.penstock.Options;
import io.penstock.TransferPath;
import io.penstock.engine.host.blocking.BlockingBytes;
import io.penstock.engine.kit.host.HostPath;
import io.penstock.engine.spi.DeviceMemory;
import io.penstock.engine.spi.IoPath;
import io.penstock.engine.spi.NativeFile;
import io.penstock.engine.spi.NativeQueue;
import io.penstock.engine.spi.staging.StagingOptions;
import io.penstock.engine.staging.SteppedStaging;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Set;
import java.util.function.BooleanSupplier;

/** The path through bounce buffers to memory that the processor does not reach, over a simulated device. */
final class SimulatedStaging implements IoPath {
    private final HostPath host; // opens files
    private final SimulatedKernel kernel;
    private final BlockingBytes bytes;
    private final Options options;
    private final int workers;

    SimulatedStaging(HostPath host, SimulatedKernel kernel, Options options) {
        this.host = host;
        this.kernel = kernel;
        bytes = new BlockingBytes(kernel);
        Chance chance = kernel.world.chance;
        workers = chance.between(1, 3);
        this.options = options.with(StagingOptions.BUFFER_BYTES, 4096L * chance.between(1, 4))
                .with(StagingOptions.BUFFERS_PER_WORKER, chance.between(1, 2))
                .with(StagingOptions.WORKERS, workers);
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
    public NativeFile open(Path path, Set<FileOption> modes) throws IOException {
        NativeFile file = host.open(path, modes);
        try {
            return SteppedStaging.wrap(file, bytes, options, modes.contains(FileOption.WRITE));
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
    public int ioQueues() {
        return host.ioQueues();
    }

    @Override
    public NativeQueue openQueue() {
        SimulatedDevice device = new SimulatedDevice(kernel);
        return new SteppedStaging(device, bytes, options, workers, new SteppedStaging.Stage() {
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
    public DeviceMemory allocateBounceBuffer(long bytes) {
        return kernel.memory.allocateBounceBuffer(bytes);
    }
}
