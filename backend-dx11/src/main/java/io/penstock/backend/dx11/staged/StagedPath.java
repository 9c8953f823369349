// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.dx11.staged;

import io.penstock.ImageRegion;
import io.penstock.Options;
import io.penstock.Target;
import io.penstock.TransferPath;
import io.penstock.backend.dx11.Dx11Options;
import io.penstock.backend.dx11.device.Dx11Device;
import io.penstock.backend.dx11.memory.Dx11Memory;
import io.penstock.engine.kit.staging.ExecutorPump;
import io.penstock.engine.spi.DeviceMemory;
import io.penstock.engine.spi.NativeFile;
import io.penstock.engine.spi.staging.StagingDevice;
import io.penstock.engine.spi.staging.StagingPath;
import org.jspecify.annotations.Nullable;

/**
 * The path through mapped staging buffers: accepts every file, every buffer and every texture, and requires only
 * Direct3D 11.
 */
public final class StagedPath extends StagingPath {

    /** Backends with equal keys and the same options share an I/O queue, and so the staging buffers. */
    private record Sharing(Dx11Device device) {}

    private final Dx11Device device;
    private final long updateBytes;

    /**
     * Creates the path.
     *
     * @param reason why no more direct path is used
     */
    public StagedPath(Dx11Device device, Options options, String reason) {
        super(options, reason);
        this.device = device;
        this.updateBytes = options.get(Dx11Options.UPDATE_BYTES);
    }

    @Override
    public String refusal(NativeFile file, Target target, @Nullable DeviceMemory memory) {
        boolean image = target instanceof ImageRegion; // checked by the driver
        return image || memory instanceof Dx11Memory ? "" : "the target is not a buffer of this device";
    }

    /**
     * {@inheritDoc} A dynamic buffer is written by the processor only, and {@code CopySubresourceRegion} of Direct3D
     * 11.0 does not copy within a subresource.
     */
    @Override
    public @Nullable TransferPath copies(DeviceMemory from, DeviceMemory to) {
        boolean both = from instanceof Dx11Memory source
                && to instanceof Dx11Memory target
                && source.isOf(device)
                && target.isOf(device)
                && !target.isDynamic()
                && source.nativeHandle() != target.nativeHandle();
        return both ? TransferPath.DIRECT : null;
    }

    @Override
    public Object sharing() {
        return new Sharing(device);
    }

    @Override
    protected StagingDevice device() {
        return new Dx11Copies(device, updateBytes);
    }

    @Override
    protected ExecutorPump executor() {
        return device.executor().pump();
    }

    @Override
    public DeviceMemory allocateBounceBuffer(long bytes) {
        return Dx11StagingBuffer.Pool.of(device).take(bytes);
    }
}
