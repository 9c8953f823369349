// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.cufile.paths;

import io.penstock.Availability;
import io.penstock.Backend;
import io.penstock.Option;
import io.penstock.Options;
import io.penstock.backend.cufile.CufileOptions;
import io.penstock.backend.cufile.cuda.CudaContext;
import io.penstock.backend.cufile.device.ContextChoice;
import io.penstock.backend.cufile.device.CudaDriver;
import io.penstock.backend.cufile.file.CuFileHandles;
import io.penstock.backend.cufile.file.StorageKind;
import io.penstock.engine.Engine;
import io.penstock.engine.spi.IoPath;
import io.penstock.engine.spi.staging.StagingOptions;
import io.penstock.spi.BackendProvider;
import java.util.ArrayList;
import java.util.List;
import java.util.function.UnaryOperator;

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

    @Override
    public Availability probe(Options options) {
        return CudaProbe.probe(options);
    }

    @Override
    public Backend open(Options options) {
        return open(options, ioPath -> ioPath);
    }

    /** Opens the backend with a decorator around its paths. */
    public Backend open(Options options, UnaryOperator<IoPath> around) {
        return open(options, StorageKind::of, around);
    }

    /** As above, with a replacement for storage detection. */
    public Backend open(Options options, CuFileHandles.Storages storages, UnaryOperator<IoPath> around) {
        CudaContext context = ContextChoice.open(options);
        CufilePaths ioPaths;
        try {
            ioPaths = CufilePaths.of(context, options, storages);
        } catch (RuntimeException e) {
            context.leave();
            throw e;
        }
        CudaDriver driver = new CudaDriver(
                context, ioPaths.cuFile(), ioPaths.paths(), 1000L * options.get(StagingOptions.SPIN_MICROS));
        return Engine.open(name(), driver, ioPaths.all().stream().map(around).toList(), options);
    }
}
