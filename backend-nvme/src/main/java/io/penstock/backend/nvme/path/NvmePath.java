// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.nvme.path;

import io.penstock.BackendUnavailableException;
import io.penstock.CommonOptions;
import io.penstock.Evidence;
import io.penstock.Failure;
import io.penstock.FileOption;
import io.penstock.Options;
import io.penstock.Outcome;
import io.penstock.Target;
import io.penstock.TransferPath;
import io.penstock.backend.nvme.NvmeOptions;
import io.penstock.backend.nvme.bus.DmaMemory;
import io.penstock.backend.nvme.controller.Controller;
import io.penstock.backend.nvme.controller.ControllerException;
import io.penstock.engine.kit.Pause;
import io.penstock.engine.spi.DeviceMemory;
import io.penstock.engine.spi.IoPath;
import io.penstock.engine.spi.NativeFile;
import io.penstock.engine.spi.NativeQueue;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** The path between blocks of a controller and memory that it reaches by DMA. */
final class NvmePath implements IoPath {

    private static final int PROCESSORS_PER_QUEUE = 4;
    private static final int MOST_QUEUES = 4;

    private final Controller controller;
    private final NvmeFiles files;
    private final Options options;

    NvmePath(Controller controller, NvmeFiles files, Options options) {
        this.controller = controller;
        this.files = files;
        this.options = options;
    }

    @Override
    public TransferPath path() {
        return TransferPath.HOST;
    }

    @Override
    public Evidence evidence() {
        return Evidence.OBSERVED;
    }

    @Override
    public NativeFile open(Path path, Set<FileOption> fileOptions) throws IOException {
        return files.open(path, fileOptions);
    }

    @Override
    public String refusal(NativeFile file, Target target, @Nullable DeviceMemory memory) {
        return memory instanceof DmaMemory ? "" : "the target is not memory that the controller reaches by DMA";
    }

    @Override
    public Object sharing() {
        return controller;
    }

    @Override
    public int ioQueues() {
        int queues = options.get(NvmeOptions.QUEUES);
        int derived = Runtime.getRuntime().availableProcessors() / PROCESSORS_PER_QUEUE;
        return queues != 0 ? queues : Math.max(1, Math.min(MOST_QUEUES, derived));
    }

    @Override
    public NativeQueue openQueue() {
        try {
            return NvmeQueue.open(
                    controller.join(),
                    options.get(CommonOptions.QUEUE_DEPTH),
                    Pause.pollNanos(options.get(CommonOptions.POLL_MICROS)));
        } catch (ControllerException e) {
            throw new BackendUnavailableException(
                    "no queue pair for this I/O queue: " + e.getMessage(),
                    new Failure(Outcome.NOT_STARTED, e.failure().error()),
                    e);
        }
    }

    @Override
    public DeviceMemory allocateBounceBuffer(long bytes) {
        return controller.bus().allocate(bytes);
    }
}
