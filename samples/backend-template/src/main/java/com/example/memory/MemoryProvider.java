// SPDX-License-Identifier: Apache-2.0
package com.example.memory;

import io.penstock.Availability;
import io.penstock.Backend;
import io.penstock.Option;
import io.penstock.Options;
import io.penstock.engine.Engine;
import io.penstock.engine.spi.staging.StagingDevice;
import io.penstock.engine.spi.staging.StagingOptions;
import io.penstock.engine.spi.staging.StagingPath;
import io.penstock.spi.BackendProvider;
import java.util.List;

/** Found by ServiceLoader; opens the backend. */
public class MemoryProvider implements BackendProvider {

    @Override
    public String name() {
        return "memory";
    }

    @Override
    public String description() {
        return "ByteBuffers on the heap, in place of a card's memory";
    }

    @Override
    public int gpuOrder() {
        return Integer.MAX_VALUE; // no GPU
    }

    @Override
    public List<Option<?>> options() {
        return StagingOptions.all();
    }

    @Override
    public Availability probe(Options options) {
        return Availability.available(false, "heap memory", List.of());
    }

    @Override
    public Backend open(Options options) {
        MemoryDevice device = device();
        StagingPath ioPath = new StagingPath(options, "devices do not reach heap memory") {
            @Override
            protected StagingDevice device() {
                return device;
            }
        };
        return Engine.open(name(), device, List.of(ioPath), options);
    }

    MemoryDevice device() {
        return new MemoryDevice();
    }
}
