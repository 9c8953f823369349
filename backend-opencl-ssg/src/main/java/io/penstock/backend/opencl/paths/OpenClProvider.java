// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.opencl.paths;

import io.penstock.Availability;
import io.penstock.Backend;
import io.penstock.Option;
import io.penstock.Options;
import io.penstock.backend.opencl.OpenClOptions;
import io.penstock.backend.opencl.cl.OpenClDevice;
import io.penstock.backend.opencl.context.ClContext;
import io.penstock.backend.opencl.context.ContextChoice;
import io.penstock.backend.opencl.context.OpenClPlatforms;
import io.penstock.backend.opencl.ffi.OpenCl;
import io.penstock.backend.opencl.ssg.ClSsg;
import io.penstock.engine.Engine;
import io.penstock.engine.kit.ffi.NativeAccess;
import io.penstock.engine.options.HostOptions;
import io.penstock.engine.spi.IoPath;
import io.penstock.engine.spi.staging.StagingOptions;
import io.penstock.engine.spi.staging.StagingPath;
import io.penstock.spi.BackendProvider;
import java.util.ArrayList;
import java.util.List;

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
        options.addAll(HostOptions.all());
        options.addAll(StagingOptions.all());
        return options;
    }

    /**
     * {@inheritDoc} Reports the platforms and devices, and the abilities of each. Creates no context, except where a
     * driver claims the SSG extension, which only a file object proves.
     */
    @Override
    public Availability probe(Options options) {
        return NativeAccess.probe(() -> find(options), "set " + OpenClOptions.DEVICE + " to an existing device");
    }

    private static Availability find(Options options) {
        OpenClPlatforms platforms = OpenClPlatforms.find(options);
        if (!platforms.isUsable()) {
            return Availability.absent(platforms.reason(), platforms.remedy());
        }
        OpenClDevice device = ContextChoice.of(options, platforms).device();
        return Availability.available(device.isHardware(), device.name(), details(platforms, device, options));
    }

    private static List<String> details(OpenClPlatforms platforms, OpenClDevice chosen, Options options) {
        List<String> details = new ArrayList<>();
        details.add("library: " + OpenCl.LIBRARY.file());
        platforms.platforms().forEach(platform -> details.add("platform: " + platform));
        platforms.devices().forEach(device -> {
            String whyNot = device.whyNot();
            details.add((whyNot.isEmpty() ? device.toString() : whyNot)
                    + "; " + String.join(", ", device.abilities())
                    + (device.claimsSsg() ? "; " + ClSsg.proof(device, options) : "")
                    + (device.equals(chosen) ? "; chosen" : ""));
        });
        details.addAll(platforms.troubles());
        details.add(StagingPath.fact());
        return details;
    }

    @Override
    public Backend open(Options options) {
        ClContext context = ClContext.open(options);
        OpenClPaths ioPaths;
        try {
            ioPaths = new OpenClPaths(context, options);
        } catch (RuntimeException | Error e) {
            context.leave();
            throw e;
        }
        OpenClDriver driver = new OpenClDriver(context, ioPaths.ssg(), IoPath.kinds(ioPaths.all()));
        return Engine.open(name(), driver, ioPaths.all(), options);
    }
}
