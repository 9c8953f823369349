// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.cufile.paths;

import io.penstock.Availability;
import io.penstock.BackendUnavailableException;
import io.penstock.Options;
import io.penstock.backend.cufile.cuda.CudaGpu;
import io.penstock.backend.cufile.device.ContextChoice;
import io.penstock.backend.cufile.device.CudaPlatform;
import io.penstock.backend.cufile.ffi.Cuda;
import io.penstock.backend.cufile.report.CuFileLibrary;
import io.penstock.engine.spi.ffi.NativeAccess;
import io.penstock.engine.spi.staging.StagingPath;
import java.util.ArrayList;
import java.util.List;

/** Reports the GPUs and libcufile; creates no context. */
final class CudaProbe {

    private CudaProbe() {}

    static Availability probe(Options options) {
        try {
            NativeAccess refusal = NativeAccess.refusal();
            if (refusal != null) {
                return Availability.absent(refusal.reason(), refusal.remedy());
            }
            CudaPlatform platform = CudaPlatform.find(options);
            CudaPlatform chosen = platform.with(ContextChoice.of(options).ordinal(platform));
            if (!chosen.isUsable()) {
                return Availability.absent(chosen.reason(), chosen.remedy());
            }
            CudaGpu gpu = chosen.gpus().get(ContextChoice.of(options).ordinal(platform));
            return Availability.available(
                    true, gpu.name() + ", driver for " + chosen.driver(), details(chosen, options));
        } catch (BackendUnavailableException e) {
            return Availability.absent(String.valueOf(e.getMessage()), "create the context, or use the primary one");
        } catch (RuntimeException | LinkageError e) {
            return Availability.absent("the probe failed: " + e, "report this");
        }
    }

    private static List<String> details(CudaPlatform platform, Options options) {
        List<String> details = new ArrayList<>();
        details.add("driver: " + platform.driver() + ", " + Cuda.file());
        platform.gpus().forEach(gpu -> details.add(gpu.toString()));
        details.addAll(CuFileLibrary.find(options).describe());
        details.add(StagingPath.fact());
        return details;
    }
}
