// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.dx11;

import io.penstock.ImageRegion;
import io.penstock.Options;
import io.penstock.Target;
import io.penstock.engine.spi.DeviceMemory;
import io.penstock.engine.spi.NativeFile;
import io.penstock.engine.spi.staging.ExecutorPump;
import io.penstock.engine.spi.staging.SlotSizes;
import io.penstock.engine.spi.staging.StagingDevice;
import io.penstock.engine.spi.staging.StagingRoute;
import org.jspecify.annotations.Nullable;

/** The way through slots of ours: takes every file, every buffer and every texture, and needs no more than Direct3D 11. */
final class StagedRoute extends StagingRoute {

    /** Backends with equal ones use the same lane, and so the same slots. */
    private record Sharing(Dx11Device device, SlotSizes sizes) {}

    private final Sharing sharing;
    private final long updateBytes;

    /**
     * Describes the way.
     *
     * @param reason why it is not a more direct one
     */
    StagedRoute(Dx11Device device, Options options, String reason) {
        super(options, reason);
        this.sharing = new Sharing(device, sizes());
        this.updateBytes = options.get(Dx11Options.UPDATE_BYTES);
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
    protected StagingDevice device() {
        return new Dx11Copies(sharing.device, updateBytes);
    }

    @Override
    protected ExecutorPump executor() {
        return sharing.device.executor().pump();
    }

    @Override
    public DeviceMemory allocateSlot(long bytes) {
        return sharing.device.slots().take(bytes);
    }
}
