// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.cufile;

import io.penstock.Availability;
import io.penstock.Backend;
import io.penstock.BackendUnavailableException;
import io.penstock.Failure;
import io.penstock.Option;
import io.penstock.Options;
import io.penstock.engine.staging.StagingOptions;
import io.penstock.spi.BackendProvider;
import java.util.ArrayList;
import java.util.List;

/** NVIDIA GPUs, wherever their driver is. */
public final class CufileProvider implements BackendProvider {

    /** Makes one; for {@link java.util.ServiceLoader}. */
    public CufileProvider() {}

    @Override
    public String name() {
        return "cufile";
    }

    @Override
    public String description() {
        return "NVIDIA GPUs, by cuFile or by pinned memory of ours";
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
        Availability there = probe(options);
        throw new BackendUnavailableException(there.reason(), Failure.NOT_STARTED, null);
    }
}
