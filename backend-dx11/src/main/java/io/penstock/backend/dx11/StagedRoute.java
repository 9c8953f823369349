// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.dx11;

import io.penstock.CommonOptions;
import io.penstock.Evidence;
import io.penstock.FileOption;
import io.penstock.ImageRegion;
import io.penstock.Options;
import io.penstock.Target;
import io.penstock.TransferPath;
import io.penstock.engine.host.BlockingBytes;
import io.penstock.engine.host.ChannelFile;
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

/** The way through slots of ours: takes every file, every buffer and every texture, and needs no more than Direct3D 11. */
final class StagedRoute implements Route {

    /** Backends with equal ones use the same lane, and so the same slots. */
    private record Sharing(Dx11Device device, SlotSizes sizes) {}

    private final Sharing sharing;
    private final long pieceBytes;
    private final long updateBytes;
    private final String reason;
    private final String remedy;

    /**
     * Describes the way.
     *
     * @param reason why it is not a more direct one
     * @param remedy what would help
     */
    StagedRoute(Dx11Device device, Options options, String reason, String remedy) {
        this.sharing = new Sharing(device, SlotSizes.of(options));
        this.updateBytes = options.get(Dx11Options.UPDATE_BYTES);
        this.pieceBytes = options.get(CommonOptions.PIECE_BYTES);
        this.reason = reason;
        this.remedy = remedy;
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
        NativeFile host = ChannelFile.open(path, options, pieceBytes);
        try {
            return new StagedFile(host, BlockingBytes.INSTANCE, sharing.sizes, options.contains(FileOption.WRITE));
        } catch (RuntimeException e) {
            host.close();
            throw e;
        }
    }

    @Override
    public String refusal(NativeFile file, Target target, @Nullable DeviceMemory memory) {
        boolean image = target instanceof ImageRegion; // the driver has looked at it
        return image || memory instanceof Dx11Memory ? "" : "the target is not a buffer of this device";
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
                new Dx11Copies(sharing.device, updateBytes),
                BlockingBytes.INSTANCE,
                sharing.sizes,
                sharing.device.executor().pump());
    }

    @Override
    public DeviceMemory allocateSlot(long bytes) {
        return sharing.device.slots().take(bytes);
    }
}
