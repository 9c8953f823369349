// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.opencl;

import io.penstock.CommonOptions;
import io.penstock.Evidence;
import io.penstock.FileOption;
import io.penstock.Options;
import io.penstock.Target;
import io.penstock.TransferPath;
import io.penstock.engine.ffi.Machine;
import io.penstock.engine.host.BlockingBytes;
import io.penstock.engine.host.ChannelFile;
import io.penstock.engine.host.LinuxFile;
import io.penstock.engine.spi.DeviceMemory;
import io.penstock.engine.spi.NativeFile;
import io.penstock.engine.spi.NativeQueue;
import io.penstock.engine.spi.Route;
import io.penstock.engine.staging.SlotSizes;
import io.penstock.engine.staging.StagedFile;
import io.penstock.engine.staging.StagedQueue;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** The way through slots of ours: takes every file and every buffer, and needs OpenCL 1.2 alone. */
final class StagedRoute implements Route {

    /** Backends with equal ones use the same lane, and so the same slots. */
    private record Sharing(ClContext context, SlotSizes sizes, boolean slotsOfDriver) {

        ClSlot slot(long bytes) {
            return context.slots().take(new ClSlot.Kind(bytes, slotsOfDriver));
        }
    }

    private final Sharing sharing;
    private final long pieceBytes;
    private final String reason;
    private final String remedy;

    /**
     * Describes the way.
     *
     * @param reason why it is not a more direct one
     * @param remedy what would help
     */
    StagedRoute(ClContext context, Options options, String reason, String remedy) {
        this.sharing = new Sharing(context, SlotSizes.of(options), isOfDriver(context, options));
        this.pieceBytes = options.get(CommonOptions.PIECE_BYTES);
        this.reason = reason;
        this.remedy = remedy;
    }

    private static boolean isOfDriver(ClContext context, Options options) {
        return switch (options.get(OpenClOptions.SLOT_MEMORY)) {
            case AUTO -> !context.device().sharesHostMemory();
            case OWN -> false;
            case DRIVER -> true;
        };
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
    public String reason() {
        return reason;
    }

    @Override
    public String remedy() {
        return remedy;
    }

    @Override
    public NativeFile open(Path path, Set<FileOption> options) throws IOException {
        NativeFile host = Machine.isSupported()
                ? LinuxFile.open(path, options, pieceBytes)
                : ChannelFile.open(path, options, pieceBytes);
        try {
            return new StagedFile(host, BlockingBytes.INSTANCE, sharing.sizes, options.contains(FileOption.WRITE));
        } catch (RuntimeException e) {
            host.close();
            throw e;
        }
    }

    @Override
    public String refusal(NativeFile file, Target target, @Nullable DeviceMemory memory) {
        return memory instanceof ClMemory ? "" : "the target is not a buffer of this device";
    }

    @Override
    public Object sharing() {
        return sharing;
    }

    @Override
    public int lanes() {
        return 1;
    }

    @Override
    public NativeQueue openQueue() {
        return StagedQueue.open(
                new ClCopies(sharing.context, sharing::slot, sharing.sizes.spinNanos()),
                BlockingBytes.INSTANCE,
                sharing.sizes);
    }

    @Override
    public DeviceMemory allocateSlot(long bytes) {
        return sharing.slot(bytes);
    }
}
