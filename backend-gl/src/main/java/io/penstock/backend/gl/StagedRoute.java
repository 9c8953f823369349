// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.gl;

import io.penstock.CommonOptions;
import io.penstock.DeviceFence;
import io.penstock.Evidence;
import io.penstock.FileOption;
import io.penstock.ImageRegion;
import io.penstock.Options;
import io.penstock.Target;
import io.penstock.Transfer;
import io.penstock.TransferPath;
import io.penstock.engine.host.BlockingBytes;
import io.penstock.engine.host.LinuxFile;
import io.penstock.engine.host.Slabs;
import io.penstock.engine.spi.DeviceMemory;
import io.penstock.engine.spi.FencePoint;
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

/** The way through mapped slots, which GL copies from and to: takes every file and every buffer. */
final class StagedRoute implements Route {

    private final GlContext context;
    private final SlotSizes sizes;
    private final long pieceBytes;
    private final String reason;

    /**
     * Describes the way.
     *
     * @param reason why it is not a more direct one
     */
    StagedRoute(GlContext context, Options options, String reason) {
        this.context = context;
        this.sizes = SlotSizes.of(options);
        this.pieceBytes = options.get(CommonOptions.PIECE_BYTES);
        this.reason = reason;
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
        return "";
    }

    @Override
    public NativeFile open(Path path, Set<FileOption> options) throws IOException {
        NativeFile host = LinuxFile.open(path, options, pieceBytes);
        try {
            return new StagedFile(host, BlockingBytes.INSTANCE, sizes, options.contains(FileOption.WRITE));
        } catch (RuntimeException e) {
            host.close();
            throw e;
        }
    }

    @Override
    public String refusal(NativeFile file, Target target, @Nullable DeviceMemory memory) {
        boolean image = target instanceof ImageRegion;
        return image || (memory instanceof GlMemory own && own.context() == context)
                ? ""
                : "the target is no buffer of this context";
    }

    /** {@inheritDoc} For reads: of a write only the last step, which is the file's, has the point. */
    @Override
    public boolean awaits(Transfer transfer, FencePoint point, DeviceFence fence) {
        if (transfer.isRead()) {
            ((GlPoint) point).await(fence.nativeHandle());
        }
        return transfer.isRead();
    }

    /** {@inheritDoc} None: a lane's slots are of one context. */
    @Override
    public Object sharing() {
        return this;
    }

    @Override
    public int lanes() {
        return 1;
    }

    @Override
    public NativeQueue openQueue() {
        return StagedQueue.open(new GlCopies(context), BlockingBytes.INSTANCE, sizes, context.pump());
    }

    /** {@inheritDoc} Plain memory: see {@link HostSlotCopies}. */
    @Override
    public DeviceMemory allocateSlot(long bytes) {
        return Slabs.shared().allocate(bytes);
    }
}
