// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.hip.paths;

import io.penstock.Availability;
import io.penstock.Backend;
import io.penstock.Option;
import io.penstock.Options;
import io.penstock.backend.gpu.context.GpuContext;
import io.penstock.backend.gpu.context.GpuInfo;
import io.penstock.backend.gpu.device.GpuDevice;
import io.penstock.backend.gpu.file.FileHandles;
import io.penstock.backend.gpu.file.StorageKind;
import io.penstock.backend.hip.HipOptions;
import io.penstock.backend.hip.ffi.Hip;
import io.penstock.engine.Engine;
import io.penstock.engine.kit.FirstClasses;
import io.penstock.engine.kit.ffi.NativeAccess;
import io.penstock.engine.kit.machine.KernelFiles;
import io.penstock.engine.kit.machine.KfdGpu;
import io.penstock.engine.spi.IoPath;
import io.penstock.engine.spi.staging.StagingOptions;
import io.penstock.engine.spi.staging.StagingPath;
import io.penstock.spi.BackendProvider;
import java.util.ArrayList;
import java.util.List;

/** Provides AMD GPUs on machines with the HIP runtime. */
public final class HipProvider implements BackendProvider {

    /** Creates a provider; for {@link java.util.ServiceLoader}. */
    public HipProvider() {}

    @Override
    public String name() {
        return "hip";
    }

    @Override
    public String description() {
        return "AMD GPUs, through hipFile or pinned staging buffers";
    }

    @Override
    public int gpuOrder() {
        return 150;
    }

    @Override
    public List<Option<?>> options() {
        List<Option<?>> options = new ArrayList<>(HipOptions.all());
        options.addAll(StagingOptions.all());
        return options;
    }

    /** {@inheritDoc} Reports the GPUs and libhipfile; starts no device. */
    @Override
    public Availability probe(Options options) {
        return NativeAccess.probe(() -> find(options), "see rocminfo");
    }

    private static Availability find(Options options) {
        int ordinal = options.get(HipOptions.DEVICE);
        HipPlatform chosen = HipPlatform.find(options).with(ordinal);
        FirstClasses.await();
        List<String> shown =
                KfdGpu.all(KernelFiles.here()).stream().map(KfdGpu::toString).toList(); // also to who may not open them
        if (!chosen.isUsable()) {
            String kernel = shown.isEmpty() ? "" : "; the kernel shows " + String.join("; ", shown);
            return Availability.absent(chosen.reason() + kernel, chosen.remedy());
        }
        Hip hip = HipPlatform.runtime(options);
        GpuInfo gpu = chosen.gpus().get(ordinal);
        List<String> details = new ArrayList<>();
        details.add("runtime: " + hip.describe(chosen.version()) + ", " + Hip.file());
        chosen.gpus().forEach(each -> details.add(each.toString()));
        details.addAll(shown.isEmpty() ? List.of("KFD: the kernel shows no GPU (" + KfdGpu.NODES + ")") : shown);
        details.addAll(HipFileLibrary.find(options).describe());
        details.add(StagingPath.fact());
        return Availability.available(true, gpu.name() + ", " + hip.describe(chosen.version()), details);
    }

    @Override
    public Backend open(Options options) {
        return open(options, StorageKind::of);
    }

    /** As above, with a replacement for storage detection. */
    public Backend open(Options options, FileHandles.Storages storages) {
        GpuContext context = HipPlatform.open(options);
        FirstClasses.await();
        HipPaths ioPaths;
        try {
            ioPaths = new HipPaths(context, options, storages);
        } catch (RuntimeException | Error e) {
            context.leave();
            throw e;
        }
        GpuDevice device = new GpuDevice(
                context, ioPaths.session(), IoPath.kinds(ioPaths.all()), StagingOptions.spinNanos(options));
        return context.ready(Engine.open(name(), device, ioPaths.all(), options));
    }
}
