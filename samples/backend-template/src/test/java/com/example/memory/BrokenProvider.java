// SPDX-License-Identifier: Apache-2.0
package com.example.memory;

import io.penstock.Availability;
import io.penstock.Backend;
import io.penstock.NativeError;
import io.penstock.Option;
import io.penstock.Options;
import io.penstock.engine.Engine;
import io.penstock.engine.spi.DeviceMemory;
import io.penstock.engine.spi.NativeFailure;
import io.penstock.engine.spi.Request;
import io.penstock.engine.spi.staging.StagingDevice;
import io.penstock.engine.spi.staging.StagingPath;
import io.penstock.spi.BackendProvider;
import java.util.List;

/** The backend with a fault in its device. */
public final class BrokenProvider implements BackendProvider {

    static final String NAME = "broken";

    private final MemoryProvider memory = new MemoryProvider();

    private static final class BrokenDevice extends MemoryDevice {

        private final Fault fault = Fault.chosen();

        @Override
        public DeviceMemory allocate(long bytes) {
            return fault != Fault.FREE_NEVER_COUNTS
                    ? super.allocate(bytes)
                    : new HeapMemory(bytes) {
                        @Override
                        public void free() {
                            // and so it counts as live
                        }
                    };
        }

        @Override
        public void copy(Request copy) {
            if (fault == Fault.COPY_IN_ALWAYS_FAILS && copy.isInward()) {
                copy.fail(new NativeFailure(new NativeError("copy", 5, ""), NativeFailure.Kind.PERMANENT));
            } else if (fault == Fault.COPY_OUT_DOES_NOTHING && !copy.isInward()) {
                copy.complete(copy.bytes());
            } else {
                super.copy(copy);
            }
        }
    }

    @Override
    public String name() {
        return NAME;
    }

    @Override
    public String description() {
        return memory.description();
    }

    @Override
    public int gpuOrder() {
        return memory.gpuOrder();
    }

    @Override
    public List<Option<?>> options() {
        return memory.options();
    }

    @Override
    public Availability probe(Options options) {
        return memory.probe(options);
    }

    @Override
    public Backend open(Options options) {
        BrokenDevice device = new BrokenDevice();
        StagingPath ioPath = new StagingPath(options, "broken") {
            @Override
            protected StagingDevice device() {
                return device;
            }
        };
        return Engine.open(NAME, device, List.of(ioPath), options);
    }
}
