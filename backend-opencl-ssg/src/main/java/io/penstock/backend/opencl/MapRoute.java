// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.opencl;

import io.penstock.Evidence;
import io.penstock.FileOption;
import io.penstock.Options;
import io.penstock.Target;
import io.penstock.Transfer;
import io.penstock.TransferPath;
import io.penstock.engine.host.HostRoute;
import io.penstock.engine.host.Slabs;
import io.penstock.engine.spi.DeviceMemory;
import io.penstock.engine.spi.NativeFile;
import io.penstock.engine.spi.NativeQueue;
import io.penstock.engine.spi.Route;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The way straight into a buffer, mapped for as long as a command takes: no byte is copied twice. For devices that share
 * the host's memory.
 */
final class MapRoute implements Route {

    /** What this way takes. */
    enum Takes {
        /** All that it can. */
        ALL,
        /** What gains by it: many small blocks cost less in one slot than in a map each. */
        WORTHWHILE
    }

    /** Backends with equal ones use the same lanes. */
    private record Sharing(ClContext context, Object host) {}

    private final ClContext context;
    private final HostRoute host;
    private final Takes takes;

    /**
     * Describes the way.
     *
     * @param takes what it does not leave to others
     */
    MapRoute(ClContext context, Options options, Takes takes) {
        this.context = context;
        this.host = HostRoute.open(options, Slabs.shared());
        this.takes = takes;
    }

    /** Returns why a device has no such way, or an empty string. */
    static String unavailable(OpenClDevice device) {
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
        String how = "straight into the buffer, mapped, since the device shares the host's memory";
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
                : "the buffer is the application's, and may lie where O_DIRECT cannot go";
    }

    @Override
    public String refusal(Transfer transfer) {
        if (transfer.queue().isPresent()) {
            return "what a command queue carries is copied there: a map would have to be waited for by the host";
        }
        return takes == Takes.WORTHWHILE && transfer.isGather() ? "many small blocks go better through a slot" : "";
    }

    @Override
    public Object sharing() {
        return new Sharing(context, host.sharing());
    }

    @Override
    public int lanes() {
        return host.lanes();
    }

    @Override
    public NativeQueue openQueue() {
        NativeQueue queue = host.openQueue();
        try {
            return new MapQueue(context, queue);
        } catch (RuntimeException e) {
            queue.close();
            throw e;
        }
    }

    @Override
    public DeviceMemory allocateSlot(long bytes) {
        return host.allocateSlot(bytes);
    }
}
