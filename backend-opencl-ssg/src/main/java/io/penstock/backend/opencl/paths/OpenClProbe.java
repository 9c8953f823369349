// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.opencl.paths;

import io.penstock.Availability;
import io.penstock.BackendUnavailableException;
import io.penstock.Options;
import io.penstock.backend.opencl.OpenClOptions;
import io.penstock.backend.opencl.cl.OpenClDevice;
import io.penstock.backend.opencl.context.ContextChoice;
import io.penstock.backend.opencl.context.OpenClPlatforms;
import io.penstock.backend.opencl.ffi.OpenCl;
import io.penstock.backend.opencl.ssg.ClSsg;
import io.penstock.engine.spi.ffi.NativeAccess;
import io.penstock.engine.spi.staging.StagingPath;
import java.util.ArrayList;
import java.util.List;

/**
 * Reports the platforms and devices, and the abilities of each. Creates no context, except where a driver claims the
 * SSG extension, which only a file object proves.
 */
public final class OpenClProbe {

    private OpenClProbe() {}

    public static Availability probe(Options options) {
        try {
            NativeAccess refusal = NativeAccess.refusal();
            if (refusal != null) {
                return Availability.absent(refusal.reason(), refusal.remedy());
            }
            OpenClPlatforms platforms = OpenClPlatforms.find(options);
            if (!platforms.isUsable()) {
                return Availability.absent(platforms.reason(), platforms.remedy());
            }
            OpenClDevice device = ContextChoice.of(options, platforms).device();
            return Availability.available(device.isHardware(), device.name(), details(platforms, device, options));
        } catch (BackendUnavailableException e) {
            return Availability.absent(
                    String.valueOf(e.getMessage()), "set " + OpenClOptions.DEVICE + " to an existing device");
        } catch (RuntimeException | LinkageError e) {
            return Availability.absent("the probe failed: " + e, "report this");
        }
    }

    private static List<String> details(OpenClPlatforms platforms, OpenClDevice chosen, Options options) {
        List<String> details = new ArrayList<>();
        details.add("library: " + OpenCl.file());
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
}
