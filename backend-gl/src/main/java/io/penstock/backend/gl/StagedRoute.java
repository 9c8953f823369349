// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.gl;

import io.penstock.DeviceFence;
import io.penstock.ImageRegion;
import io.penstock.Options;
import io.penstock.Target;
import io.penstock.Transfer;
import io.penstock.engine.spi.DeviceMemory;
import io.penstock.engine.spi.FencePoint;
import io.penstock.engine.spi.NativeFile;
import io.penstock.engine.spi.staging.ExecutorPump;
import io.penstock.engine.spi.staging.StagingDevice;
import io.penstock.engine.spi.staging.StagingRoute;
import org.jspecify.annotations.Nullable;

/** The way through mapped slots, which GL copies from and to: takes every file and every buffer. */
final class StagedRoute extends StagingRoute {

    private final GlContext context;

    /**
     * Describes the way.
     *
     * @param reason why it is not a more direct one
     */
    StagedRoute(GlContext context, Options options, String reason) {
        super(options, reason);
        this.context = context;
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

    @Override
    protected StagingDevice device() {
        return new GlCopies(context);
    }

    @Override
    protected ExecutorPump executor() {
        return context.pump();
    }
}
