// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.cufile.paths;

import io.penstock.Availability;
import io.penstock.Backend;
import io.penstock.Option;
import io.penstock.Options;
import io.penstock.backend.cufile.CufileOptions;
import io.penstock.backend.cufile.ffi.Cuda;
import io.penstock.backend.cufile.report.CuFileLibrary;
import io.penstock.backend.gpu.context.GpuContext;
import io.penstock.backend.gpu.context.GpuInfo;
import io.penstock.backend.gpu.device.GpuDevice;
import io.penstock.backend.gpu.file.StorageKind;
import io.penstock.engine.Engine;
import io.penstock.engine.kit.FirstClasses;
import io.penstock.engine.kit.ffi.NativeAccess;
import io.penstock.engine.spi.IoPath;
import io.penstock.engine.spi.staging.StagingOptions;
import io.penstock.engine.spi.staging.StagingPath;
import io.penstock.spi.BackendProvider;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;

/** Provides NVIDIA GPUs on machines with their driver. */
public final class CufileProvider implements BackendProvider {

    /** Creates a provider; for {@link java.util.ServiceLoader}. */
    public CufileProvider() {}

    @Override
    public String name() {
        return "cufile";
    }

    @Override
    public String description() {
        return "NVIDIA GPUs, through cuFile or pinned staging buffers";
    }

    @Override
    public int gpuOrder() {
        return 100;
    }

    @Override
    public List<Option<?>> options() {
        List<Option<?>> options = new ArrayList<>(CufileOptions.all());
        options.addAll(StagingOptions.all());
        return options;
    }

    /** {@inheritDoc} Reports the GPUs and libcufile; creates no context. */
    @Override
    public Availability probe(Options options) {
        return NativeAccess.probe(() -> find(options), "create the context, or use the primary one");
    }

    private static Availability find(Options options) {
        CudaPlatform platform = CudaPlatform.find(options);
        FirstClasses.await();
        CudaPlatform chosen = platform.with(ContextChoice.of(options).ordinal(platform));
        if (!chosen.isUsable()) {
            return Availability.absent(chosen.reason(), chosen.remedy());
        }
        GpuInfo gpu = chosen.gpus().get(ContextChoice.of(options).ordinal(platform));
        return Availability.available(true, gpu.name() + ", driver for " + chosen.driver(), details(chosen, options));
    }

    private static String reached(GpuInfo gpu, List<GpuInfo> all) {
        String others = all.stream()
                .filter(other -> other.ordinal() != gpu.ordinal() && gpu.reaches(Cuda.DRIVER, other))
                .map(other -> String.valueOf(other.ordinal()))
                .collect(Collectors.joining(", "));
        return all.size() == 1 ? "" : ", peer access to " + (others.isEmpty() ? "none" : "GPU " + others);
    }

    private static List<String> details(CudaPlatform platform, Options options) {
        List<String> details = new ArrayList<>();
        details.add("driver: " + platform.driver() + ", " + Cuda.file());
        platform.gpus().forEach(gpu -> details.add(gpu + reached(gpu, platform.gpus())));
        details.addAll(CuFileLibrary.find(options).describe());
        details.add(StagingPath.fact());
        return details;
    }

    @Override
    public Backend open(Options options) {
        return open(options, StorageKind::of);
    }

    /** As above, with a replacement for storage detection. */
    public Backend open(Options options, CuFileLibrary.Storages storages) {
        GpuContext context = ContextChoice.open(options);
        FirstClasses.await();
        CufilePaths ioPaths;
        try {
            ioPaths = new CufilePaths(context, options, storages);
        } catch (RuntimeException | Error e) {
            context.leave();
            throw e;
        }
        GpuDevice driver = new GpuDevice(
                context, ioPaths.cuFile(), IoPath.kinds(ioPaths.all()), StagingOptions.spinNanos(options));
        return context.ready(Engine.open(name(), driver, ioPaths.all(), options));
    }
}
