// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.opencl.paths;

import io.penstock.Availability;
import io.penstock.Backend;
import io.penstock.Option;
import io.penstock.Options;
import io.penstock.backend.opencl.OpenClOptions;
import io.penstock.backend.opencl.context.ClContext;
import io.penstock.engine.Engine;
import io.penstock.engine.spi.IoPath;
import io.penstock.engine.spi.staging.StagingOptions;
import io.penstock.spi.BackendProvider;
import java.util.ArrayList;
import java.util.List;
import java.util.function.UnaryOperator;

/** Provides OpenCL devices on machines with a driver. */
public final class OpenClProvider implements BackendProvider {

    /** Creates a provider; for {@link java.util.ServiceLoader}. */
    public OpenClProvider() {}

    @Override
    public String name() {
        return "opencl-ssg";
    }

    @Override
    public String description() {
        return "OpenCL devices, through AMD's SSG extension or staging buffers";
    }

    @Override
    public int gpuOrder() {
        return 200;
    }

    @Override
    public List<Option<?>> options() {
        List<Option<?>> options = new ArrayList<>(OpenClOptions.all());
        options.addAll(StagingOptions.all());
        return options;
    }

    @Override
    public Availability probe(Options options) {
        return OpenClProbe.probe(options);
    }

    @Override
    public Backend open(Options options) {
        return open(options, ioPath -> ioPath);
    }

    /** Opens the backend with a decorator around its paths. */
    public Backend open(Options options, UnaryOperator<IoPath> around) {
        ClContext context = ClContext.open(options);
        OpenClPaths ioPaths;
        try {
            ioPaths = OpenClPaths.of(context, options);
        } catch (RuntimeException e) {
            context.leave();
            throw e;
        }
        OpenClDriver driver = new OpenClDriver(context, ioPaths.ssg(), ioPaths.paths());
        return Engine.open(name(), driver, ioPaths.all().stream().map(around).toList(), options);
    }
}
