// SPDX-License-Identifier: Apache-2.0
package com.example.memory;

import io.penstock.Options;
import io.penstock.engine.host.BlockingBytes;
import io.penstock.engine.host.Slabs;
import io.penstock.engine.host.StagingRoute;
import io.penstock.engine.spi.DeviceMemory;
import io.penstock.engine.spi.NativeQueue;
import io.penstock.engine.staging.StagedQueue;

/** The way to the memory: through slots. */
final class MemoryRoute extends StagingRoute {

    private final MemoryDevice device;

    MemoryRoute(MemoryDevice device, Options options) {
        super(options, "heap memory is not reached by devices");
        this.device = device;
    }

    @Override
    public Object sharing() {
        return device;
    }

    @Override
    public NativeQueue openQueue() {
        return StagedQueue.open(device, BlockingBytes.INSTANCE, sizes());
    }

    @Override
    public DeviceMemory allocateSlot(long bytes) {
        return Slabs.shared().allocate(bytes);
    }
}
