// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.opencl;

import io.penstock.Options;
import io.penstock.Target;
import io.penstock.engine.spi.DeviceMemory;
import io.penstock.engine.spi.NativeFile;
import io.penstock.engine.spi.staging.SlotSizes;
import io.penstock.engine.spi.staging.StagingDevice;
import io.penstock.engine.spi.staging.StagingRoute;
import org.jspecify.annotations.Nullable;

/** The way through slots of ours: takes every file and every buffer, and needs OpenCL 1.2 alone. */
final class StagedRoute extends StagingRoute {

    /** Backends with equal ones use the same lane, and so the same slots. */
    private record Sharing(ClContext context, SlotSizes sizes, boolean slotsOfDriver) {

        ClSlot slot(long bytes) {
            return context.slots().take(new ClSlot.Kind(bytes, slotsOfDriver));
        }
    }

    private final Sharing sharing;

    /**
     * Describes the way.
     *
     * @param reason why it is not a more direct one
     */
    StagedRoute(ClContext context, Options options, String reason) {
        super(options, reason);
        this.sharing = new Sharing(context, sizes(), isOfDriver(context, options));
    }

    private static boolean isOfDriver(ClContext context, Options options) {
        return switch (options.get(OpenClOptions.SLOT_MEMORY)) {
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
        return new ClCopies(sharing.context, sharing::slot, sharing.sizes.spinNanos());
    }

    @Override
    public DeviceMemory allocateSlot(long bytes) {
        return sharing.slot(bytes);
    }
}
