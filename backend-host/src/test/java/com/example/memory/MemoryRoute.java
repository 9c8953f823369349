// SPDX-License-Identifier: Apache-2.0
package com.example.memory;

import io.penstock.Options;
import io.penstock.engine.spi.staging.StagingDevice;
import io.penstock.engine.spi.staging.StagingRoute;

/** The path to the memory: through slots. */
final class MemoryRoute extends StagingRoute {

    private final MemoryDevice device;

    MemoryRoute(MemoryDevice device, Options options) {
        super(options, "heap memory is not reached by devices");
        this.device = device;
    }

    @Override
    protected StagingDevice device() {
        return device;
    }
}
