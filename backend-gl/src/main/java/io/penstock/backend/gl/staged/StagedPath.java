// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.gl.staged;

import io.penstock.DeviceFence;
import io.penstock.ImageRegion;
import io.penstock.Options;
import io.penstock.Target;
import io.penstock.Transfer;
import io.penstock.TransferPath;
import io.penstock.backend.gl.context.GlContext;
import io.penstock.backend.gl.fence.GlPoint;
import io.penstock.backend.gl.memory.GlMemory;
import io.penstock.engine.kit.staging.ExecutorPump;
import io.penstock.engine.spi.DeviceMemory;
import io.penstock.engine.spi.FencePoint;
import io.penstock.engine.spi.NativeFile;
import io.penstock.engine.spi.staging.StagingDevice;
import io.penstock.engine.spi.staging.StagingPath;
import org.jspecify.annotations.Nullable;

/** The path through mapped staging buffers, which GL copies from and to: accepts every file and every buffer. */
public final class StagedPath extends StagingPath {

    private final GlContext context;

    /**
     * Creates the path.
     *
     * @param reason why no more direct path is used
     */
    public StagedPath(GlContext context, Options options, String reason) {
        super(options, reason);
        this.context = context;
    }

    @Override
    public String refusal(NativeFile file, Target target, @Nullable DeviceMemory memory) {
        boolean image = target instanceof ImageRegion;
        return image || isOwn(memory) ? "" : "the target is no buffer of this context";
    }

    @Override
    public @Nullable TransferPath copies(DeviceMemory from, DeviceMemory to) {
        return isOwn(from) && isOwn(to) ? TransferPath.DIRECT : null;
    }

    private boolean isOwn(@Nullable DeviceMemory memory) {
        return memory instanceof GlMemory own && own.context() == context;
    }

    /** {@inheritDoc} For reads only: the point of a write is at its last step, the write to the file. */
    @Override
    public boolean awaits(Transfer transfer, FencePoint point, DeviceFence fence) {
        if (transfer.isRead()) {
            ((GlPoint) point).await(fence.nativeHandle());
        }
        return transfer.isRead();
    }

    @Override
    protected StagingDevice device() {
        return new GlCopies(context);
    }

    @Override
    protected ExecutorPump executor() {
        return context.pump();
    }
}
