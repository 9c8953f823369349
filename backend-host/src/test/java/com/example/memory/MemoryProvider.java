// SPDX-License-Identifier: Apache-2.0
package com.example.memory;

import io.penstock.Availability;
import io.penstock.Backend;
import io.penstock.Option;
import io.penstock.Options;
import io.penstock.engine.Engine;
import io.penstock.engine.spi.staging.StagingOptions;
import io.penstock.spi.BackendProvider;
import java.util.List;

/** Opens the backend. */
public final class MemoryProvider implements BackendProvider {

    /** Makes one; for ServiceLoader. */
    public MemoryProvider() {}

    @Override
    public String name() {
        return "memory";
    }

    @Override
    public String description() {
        return "ByteBuffers on the heap, as if they were a card";
    }

    @Override
    public int gpuOrder() {
        return Integer.MAX_VALUE;
    }

    @Override
    public List<Option<?>> options() {
        return StagingOptions.all();
    }

    @Override
    public Availability probe(Options options) {
        return Availability.available(false, "always there", List.of());
    }

    @Override
    public Backend open(Options options) {
        MemoryDevice device = new MemoryDevice(Fault.chosen());
        return Engine.open(name(), device, List.of(new MemoryRoute(device, options)), options);
    }
}
