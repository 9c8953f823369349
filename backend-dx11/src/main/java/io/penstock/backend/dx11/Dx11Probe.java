// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.dx11;

import io.penstock.Availability;
import io.penstock.BackendUnavailableException;
import io.penstock.Options;
import io.penstock.engine.spi.ffi.NativeAccess;
import java.util.ArrayList;
import java.util.List;

/** Says which adapters there are; makes no device. */
final class Dx11Probe {

    private Dx11Probe() {}

    static Availability probe(Options options) {
        try {
            NativeAccess refusal = NativeAccess.refusal();
            if (refusal != null) {
                return Availability.absent(refusal.reason(), refusal.remedy());
            }
            String why = DeviceChoice.load(options);
            if (!why.isEmpty()) {
                return Availability.absent(why, "use it on 64-bit Windows 10 or later, with its Direct3D 11");
            }
            List<Adapter> adapters = Adapter.all();
            List<String> details = new ArrayList<>();
            adapters.forEach(adapter -> details.add("adapter " + adapter));
            String whyNotSsg = Dx11Routes.whyNot(options);
            details.add("SSG: " + (whyNotSsg.isEmpty() ? "to be asked for when a device is opened" : whyNotSsg));
            DeviceChoice choice = DeviceChoice.of(options);
            if (choice.application() != 0) {
                return Availability.available(true, "the application's device", details);
            }
            if (choice.isWarp()) {
                return Availability.available(false, "WARP, on the processor", details);
            }
            Adapter chosen = choice.among(adapters);
            return Availability.available(chosen.hardware(), chosen.name(), details);
        } catch (BackendUnavailableException e) {
            return Availability.absent(
                    String.valueOf(e.getMessage()),
                    "set " + Dx11Options.ADAPTER + " to an adapter that there is, or warp");
        } catch (RuntimeException | LinkageError e) {
            return Availability.absent("the probe failed: " + e, "report this");
        }
    }
}
