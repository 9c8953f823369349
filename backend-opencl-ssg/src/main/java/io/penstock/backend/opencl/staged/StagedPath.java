// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.opencl.staged;

import io.penstock.Options;
import io.penstock.Target;
import io.penstock.TransferPath;
import io.penstock.backend.opencl.OpenClOptions;
import io.penstock.backend.opencl.context.ClContext;
import io.penstock.backend.opencl.memory.ClMemory;
import io.penstock.engine.spi.DeviceMemory;
import io.penstock.engine.spi.NativeFile;
import io.penstock.engine.spi.staging.StagingDevice;
import io.penstock.engine.spi.staging.StagingOptions;
import io.penstock.engine.spi.staging.StagingPath;
import org.jspecify.annotations.Nullable;

/** The path through staging buffers: takes every file and every buffer, and needs only OpenCL 1.2. */
public final class StagedPath extends StagingPath {

    /** Backends with equal keys and the same options share the I/O queue, and so the staging buffers. */
    private record Sharing(ClContext context) {}

    private final ClContext context;
    private final boolean buffersOfDriver;
    private final long spinNanos;

    /**
     * Describes the path.
     *
     * @param reason why no more direct path is used
     */
    public StagedPath(ClContext context, Options options, String reason) {
        super(options, reason);
        this.context = context;
        this.buffersOfDriver = switch (options.get(OpenClOptions.STAGING_MEMORY)) {
            case AUTO -> !context.device().sharesHostMemory();
            case OWN -> false;
            case DRIVER -> true;
        };
        this.spinNanos = StagingOptions.explicitSpinNanos(options);
    }

    @Override
    public String refusal(NativeFile file, Target target, @Nullable DeviceMemory memory) {
        return memory instanceof ClMemory ? "" : "the target is not a buffer of this device";
    }

    @Override
    public @Nullable TransferPath copies(DeviceMemory from, DeviceMemory to) {
        boolean both = from instanceof ClMemory source
                && to instanceof ClMemory target
                && source.context() == context
                && target.context() == context;
        return both ? TransferPath.DIRECT : null;
    }

    @Override
    public Object sharing() {
        return new Sharing(context);
    }

    @Override
    protected StagingDevice device() {
        return new ClCopies(context, this::allocateBounceBuffer, spinNanos);
    }

    @Override
    public ClStagingBuffer allocateBounceBuffer(long bytes) {
        return ClStagingBuffer.Pool.of(context).take(new ClStagingBuffer.Kind(bytes, buffersOfDriver));
    }
}
