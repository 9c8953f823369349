// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.opencl.staged;

import io.penstock.Options;
import io.penstock.Target;
import io.penstock.backend.opencl.OpenClOptions;
import io.penstock.backend.opencl.context.ClContext;
import io.penstock.backend.opencl.memory.ClMemory;
import io.penstock.engine.spi.DeviceMemory;
import io.penstock.engine.spi.NativeFile;
import io.penstock.engine.spi.staging.StagingDevice;
import io.penstock.engine.spi.staging.StagingPath;
import io.penstock.engine.spi.staging.StagingSizes;
import org.jspecify.annotations.Nullable;

/** The path through staging buffers: takes every file and every buffer, and needs only OpenCL 1.2. */
public final class StagedPath extends StagingPath {

    /** Backends with equal keys share the I/O queue, and so the staging buffers. */
    private record Sharing(ClContext context, StagingSizes sizes, boolean buffersOfDriver) {

        ClStagingBuffer staging(long bytes) {
            return ClStagingBuffers.of(context).take(new ClStagingBuffer.Kind(bytes, buffersOfDriver));
        }
    }

    private final Sharing sharing;

    /**
     * Describes the path.
     *
     * @param reason why no more direct path is used
     */
    public StagedPath(ClContext context, Options options, String reason) {
        super(options, reason);
        this.sharing = new Sharing(context, sizes(), isOfDriver(context, options));
    }

    private static boolean isOfDriver(ClContext context, Options options) {
        return switch (options.get(OpenClOptions.STAGING_MEMORY)) {
            case AUTO -> !context.device().sharesHostMemory();
            case OWN -> false;
            case DRIVER -> true;
        };
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
    protected StagingDevice device() {
        return new ClCopies(sharing.context, sharing::staging, sharing.sizes.spinNanos());
    }

    @Override
    public DeviceMemory allocateBounceBuffer(long bytes) {
        return sharing.staging(bytes);
    }
}
