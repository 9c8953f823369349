// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.cufile.staged;

import io.penstock.Options;
import io.penstock.Target;
import io.penstock.Transfer;
import io.penstock.backend.cufile.cuda.CudaContext;
import io.penstock.backend.cufile.cuda.StreamAccess;
import io.penstock.backend.cufile.device.CudaPoint;
import io.penstock.backend.cufile.device.GpuMemory;
import io.penstock.engine.spi.DeviceMemory;
import io.penstock.engine.spi.NativeFile;
import io.penstock.engine.spi.staging.SlotSizes;
import io.penstock.engine.spi.staging.StagingDevice;
import io.penstock.engine.spi.staging.StagingRoute;
import org.jspecify.annotations.Nullable;

/** The way through pinned slots: takes every file and every buffer, and needs the driver alone. */
public final class StagedRoute extends StagingRoute {

    /** Backends with equal ones use the same lane, and so the same slots. */
    private record Sharing(CudaContext context, SlotSizes sizes) {}

    private final Sharing sharing;

    /**
     * Describes the way.
     *
     * @param reason why it is not a more direct one
     */
    public StagedRoute(CudaContext context, Options options, String reason) {
        super(options, reason);
        this.sharing = new Sharing(context, sizes());
    }

    @Override
    public String refusal(NativeFile file, Target target, @Nullable DeviceMemory memory) {
        return memory instanceof GpuMemory ? "" : "the target is not memory of this GPU";
    }

    @Override
    public String refusal(Transfer transfer) {
        return StreamAccess.isSizedLate(transfer) ? CudaPoint.ONLY_BY_STREAMS : "";
    }

    @Override
    public Object sharing() {
        return sharing;
    }

    @Override
    protected StagingDevice device() {
        return new CudaCopies(sharing.context, sharing.sizes.spinNanos());
    }

    @Override
    public DeviceMemory allocateSlot(long bytes) {
        return PinnedSlots.of(sharing.context).take(bytes);
    }
}
