// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.nvme.path;

import io.penstock.Capabilities;
import io.penstock.FenceSupport;
import io.penstock.TransferPath;
import io.penstock.backend.nvme.controller.Controller;
import io.penstock.engine.kit.memory.HostMemory;
import io.penstock.engine.spi.DeviceDriver;
import io.penstock.engine.spi.DeviceMemory;
import java.nio.ByteBuffer;
import java.util.Set;

/** Host memory that a controller reaches by DMA, as a device. */
final class NvmeDriver implements DeviceDriver {

    private final Controller controller;

    /** Takes over one use of the controller. */
    NvmeDriver(Controller controller) {
        this.controller = controller;
    }

    @Override
    public Capabilities capabilities() {
        return new Capabilities(
                "host memory of " + controller.identity().model(),
                true,
                Set.of(TransferPath.HOST),
                FenceSupport.HOST_ONLY,
                true,
                false,
                Set.of());
    }

    @Override
    public DeviceMemory allocate(long bytes) {
        return controller.bus().allocate(Math.max(bytes, 1));
    }

    @Override
    public DeviceMemory wrap(long nativeHandle, long bytes) {
        if (nativeHandle == 0) {
            throw new IllegalArgumentException("address 0 cannot be wrapped");
        }
        return controller.bus().map(HostMemory.wrap(nativeHandle, bytes));
    }

    @Override
    public DeviceMemory wrap(ByteBuffer memory) {
        return controller.bus().map(HostMemory.wrap(memory));
    }

    @Override
    public void close() {
        controller.leave();
    }
}
