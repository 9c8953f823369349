// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.host;

import io.penstock.Availability;
import io.penstock.Backend;
import io.penstock.BackendUnavailableException;
import io.penstock.Option;
import io.penstock.Options;
import io.penstock.engine.Engine;
import io.penstock.engine.kit.host.HostPath;
import io.penstock.engine.kit.memory.Slabs;
import io.penstock.engine.options.HostOptions;
import io.penstock.spi.BackendProvider;
import java.util.List;

/** The embedded default: works on every platform that runs Java. */
public final class HostProvider implements BackendProvider {

    /** Creates a provider; for {@link java.util.ServiceLoader}. */
    public HostProvider() {}

    @Override
    public String name() {
        return "host";
    }

    @Override
    public String description() {
        return "host memory, through io_uring or a pool of blocking calls";
    }

    @Override
    public int gpuOrder() {
        return Integer.MAX_VALUE;
    }

    @Override
    public List<Option<?>> options() {
        return HostOptions.all();
    }

    @Override
    public Availability probe(Options options) {
        return HostPath.probe(options);
    }

    @Override
    public Backend open(Options options) {
        HostPath ioPath = HostPath.open(options, Slabs.shared());
        try {
            return open(ioPath, options);
        } catch (BackendUnavailableException refused) {
            return open(ioPath.withoutRing(refused), options);
        }
    }

    private Backend open(HostPath ioPath, Options options) {
        return Engine.open(name(), new HostDriver(), List.of(ioPath), options);
    }
}
