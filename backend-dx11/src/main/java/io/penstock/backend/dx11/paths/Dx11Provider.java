// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.dx11.paths;

import io.penstock.Availability;
import io.penstock.Backend;
import io.penstock.Option;
import io.penstock.Options;
import io.penstock.backend.dx11.Dx11Options;
import io.penstock.backend.dx11.device.Adapter;
import io.penstock.backend.dx11.device.DeviceChoice;
import io.penstock.backend.dx11.device.Dx11Device;
import io.penstock.backend.dx11.ssg.Dx11Ssg;
import io.penstock.engine.Engine;
import io.penstock.engine.kit.ffi.NativeAccess;
import io.penstock.engine.spi.staging.StagingOptions;
import io.penstock.spi.BackendProvider;
import java.util.ArrayList;
import java.util.List;

/** Direct3D 11 devices, on Windows. */
public final class Dx11Provider implements BackendProvider {

    /** Creates a provider; for {@link java.util.ServiceLoader}. */
    public Dx11Provider() {}

    @Override
    public String name() {
        return "dx11";
    }

    @Override
    public String description() {
        return "Direct3D 11 buffers, through AMD's SSG interface or staging buffers";
    }

    @Override
    public int gpuOrder() {
        return 400;
    }

    @Override
    public List<Option<?>> options() {
        List<Option<?>> options = new ArrayList<>(Dx11Options.all());
        options.addAll(StagingOptions.all());
        return options;
    }

    /** {@inheritDoc} Lists the adapters; creates no device. */
    @Override
    public Availability probe(Options options) {
        return NativeAccess.probe(
                () -> find(options), "set " + Dx11Options.ADAPTER + " to an existing adapter, or warp");
    }

    private static Availability find(Options options) {
        String why = DeviceChoice.load(options);
        return why.isEmpty()
                ? choose(options)
                : Availability.absent(why, "use it on 64-bit Windows 10 or later, with its Direct3D 11");
    }

    private static Availability choose(Options options) {
        List<Adapter> adapters = Adapter.all();
        List<String> details = new ArrayList<>();
        adapters.forEach(adapter -> details.add("adapter " + adapter));
        String whyNotSsg = Dx11Ssg.whyNot(options);
        details.add("SSG: " + (whyNotSsg.isEmpty() ? "queried when a device is opened" : whyNotSsg));
        DeviceChoice choice = DeviceChoice.of(options);
        if (choice.application() != 0) {
            return Availability.available(true, "the application's device", details);
        }
        if (choice.isWarp()) {
            return Availability.available(false, "WARP, on the processor", details);
        }
        Adapter chosen = choice.among(adapters);
        return Availability.available(chosen.hardware(), chosen.name(), details);
    }

    @Override
    public Backend open(Options options) {
        Dx11Device device = Dx11Device.open(options);
        Dx11Paths ioPaths;
        try {
            ioPaths = new Dx11Paths(device, options);
        } catch (RuntimeException | Error e) {
            device.leave();
            throw e;
        }
        return Engine.open(name(), new Dx11Driver(device, ioPaths), ioPaths.all(), options);
    }
}
