// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine;

import io.penstock.Backend;
import io.penstock.DeviceBuffer;
import io.penstock.Options;
import io.penstock.engine.kit.PathFilter;
import io.penstock.engine.resource.EngineBuffer;
import io.penstock.engine.resource.Failures;
import io.penstock.engine.spi.DeviceDriver;
import io.penstock.engine.spi.IoPath;
import java.util.List;
import java.util.ServiceLoader;

/** Entry point for providers: creates a {@link Backend} from a driver. */
public final class Engine {

    private Engine() {}

    /**
     * Opens a backend over a driver. The driver is closed with the backend, or at once if this method throws.
     *
     * @param ioPaths in order of preference; the last one accepts every file and every target that the device has
     * @throws io.penstock.BackendUnavailableException if a path's queue is not available
     */
    public static Backend open(String name, DeviceDriver driver, List<IoPath> ioPaths, Options options) {
        return EngineBackend.open(name, driver, filtered(ioPaths), options);
    }

    /**
     * Keeps the memory of a buffer, as a transfer does: a close of the buffer takes effect after the result has run.
     *
     * @return ends that; to be run once
     * @throws io.penstock.ClosedException if the buffer is closed
     * @throws IllegalArgumentException if no backend of the engine has allocated or wrapped it
     */
    public static Runnable pin(DeviceBuffer buffer) {
        if (!(buffer instanceof EngineBuffer known)) {
            throw new IllegalArgumentException("buffer must be of a backend of the engine, was " + buffer);
        }
        if (!known.pins().tryPin()) {
            throw Failures.closed("pin of " + buffer, "the buffer");
        }
        return known.pins()::unpin;
    }

    private static List<IoPath> filtered(List<IoPath> ioPaths) {
        List<IoPath> filtered = ioPaths;
        for (PathFilter filter : ServiceLoader.load(PathFilter.class)) {
            filtered = filtered.stream().map(filter::around).toList();
        }
        return filtered;
    }
}
