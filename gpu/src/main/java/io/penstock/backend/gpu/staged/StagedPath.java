// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.gpu.staged;

import io.penstock.Options;
import io.penstock.Target;
import io.penstock.Transfer;
import io.penstock.TransferPath;
import io.penstock.backend.gpu.context.GpuContext;
import io.penstock.backend.gpu.context.PeerAccess;
import io.penstock.backend.gpu.device.GpuMemory;
import io.penstock.backend.gpu.device.GpuPoint;
import io.penstock.engine.spi.DeviceMemory;
import io.penstock.engine.spi.NativeFile;
import io.penstock.engine.spi.staging.StagingDevice;
import io.penstock.engine.spi.staging.StagingOptions;
import io.penstock.engine.spi.staging.StagingPath;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The path through pinned staging buffers: takes every file and every buffer, and needs only the driver. */
public final class StagedPath extends StagingPath {

    private final GpuContext context;
    private final long spinNanos;

    /**
     * Describes the path.
     *
     * @param reason why no more direct path is used
     */
    public StagedPath(GpuContext context, Options options, String reason) {
        super(options, reason);
        this.context = context;
        this.spinNanos = StagingOptions.spinNanos(options);
    }

    @Override
    public String refusal(NativeFile file, Target target, @Nullable DeviceMemory memory) {
        return memory instanceof GpuMemory ? "" : "the target is not memory of this GPU";
    }

    @Override
    public String refusal(Transfer transfer) {
        return GpuPoint.whyNotLate(context, transfer);
    }

    /** {@inheritDoc} From every GPU: the driver itself goes through host memory where one does not reach the other. */
    @Override
    public @Nullable TransferPath copies(DeviceMemory from, DeviceMemory to) {
        if (!(from instanceof GpuMemory source)
                || !(to instanceof GpuMemory)
                || source.span().context().driver() != context.driver()) { // of another vendor: through the host
            return null;
        }
        return PeerAccess.of(context).reaches(source.span().context()) ? TransferPath.DIRECT : TransferPath.STAGED;
    }

    @Override
    public Object sharing() {
        return List.of(StagedPath.class, context); // equal keys share the I/O queue, and so the staging buffers
    }

    @Override
    protected StagingDevice device() {
        return new GpuCopies(context, spinNanos);
    }

    @Override
    public DeviceMemory allocateBounceBuffer(long bytes) {
        return PinnedBuffer.Pool.of(context).take(bytes);
    }
}
