// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.opencl.mapped;

import io.penstock.Evidence;
import io.penstock.FileOption;
import io.penstock.Options;
import io.penstock.Target;
import io.penstock.Transfer;
import io.penstock.TransferPath;
import io.penstock.backend.opencl.cl.OpenClDevice;
import io.penstock.backend.opencl.context.ClContext;
import io.penstock.backend.opencl.memory.ClMemory;
import io.penstock.engine.kit.host.HostPath;
import io.penstock.engine.kit.memory.Slabs;
import io.penstock.engine.spi.DeviceMemory;
import io.penstock.engine.spi.IoPath;
import io.penstock.engine.spi.NativeFile;
import io.penstock.engine.spi.NativeQueue;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The path directly into a buffer, mapped for the duration of a command: no byte is copied twice. For devices that
 * share the host's memory.
 */
public final class MapPath implements IoPath {

    /** Which transfers this path takes. */
    public enum Takes {
        /** All possible transfers. */
        ALL,
        /** Only transfers that benefit: many small blocks cost less in one staging buffer than with one map each. */
        WORTHWHILE
    }

    /** Backends with equal keys share the I/O queues. */
    private record Sharing(ClContext context, Object host) {}

    private final ClContext context;
    private final HostPath host;
    private final Takes takes;

    /**
     * Describes the path.
     *
     * @param takes the transfers that it does not leave to other paths
     */
    public MapPath(ClContext context, Options options, Takes takes) {
        this.context = context;
        this.host = HostPath.open(options, Slabs.shared());
        this.takes = takes;
    }

    /** Returns why this path is unavailable on a device, or an empty string. */
    public static String unavailable(OpenClDevice device) {
        return device.sharesHostMemory() ? "" : "the device has memory of its own (CL_DEVICE_HOST_UNIFIED_MEMORY is 0)";
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
    public String reason() {
        String how = "directly into the mapped buffer, since the device shares the host's memory";
        return host.reason().isEmpty() ? how : how + "; " + host.reason();
    }

    @Override
    public String remedy() {
        return host.remedy();
    }

    @Override
    public NativeFile open(Path path, Set<FileOption> options) throws IOException {
        return host.open(path, options);
    }

    @Override
    public String refusal(NativeFile file, Target target, @Nullable DeviceMemory memory) {
        if (!(memory instanceof ClMemory buffer)) {
            return "the target is not a buffer of this device";
        }
        return file.limits().memoryAlignment() == 1 || buffer.span().backing() != null
                ? ""
                : "the buffer is the application's, and O_DIRECT may not reach its memory";
    }

    @Override
    public String refusal(Transfer transfer) {
        if (transfer.queue().isPresent()) {
            return "a transfer in a command queue is copied: a map would make the host wait";
        }
        return takes == Takes.WORTHWHILE && transfer.isGather()
                ? "many small blocks are faster through a staging buffer"
                : "";
    }

    @Override
    public Object sharing() {
        return new Sharing(context, host.sharing());
    }

    @Override
    public int ioQueues() {
        return host.ioQueues();
    }

    @Override
    public NativeQueue openQueue() {
        NativeQueue queue = host.openQueue();
        try {
            return new MapQueue(context, queue);
        } catch (RuntimeException | Error e) {
            queue.close();
            throw e;
        }
    }

    @Override
    public DeviceMemory allocateBounceBuffer(long bytes) {
        return host.allocateBounceBuffer(bytes);
    }
}
