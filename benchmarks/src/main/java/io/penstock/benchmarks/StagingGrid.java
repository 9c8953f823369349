// SPDX-License-Identifier: Apache-2.0
package io.penstock.benchmarks;

import io.penstock.CommonOptions;
import io.penstock.FileOption;
import io.penstock.Options;
import io.penstock.engine.spi.staging.StagingOptions;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/**
 * The rate of the hot file through staging buffers of several sizes, with several staging workers: for choosing the
 * defaults, so it is measured only if {@code --rows} names it. One after another, since a process has one number of
 * staging workers at a time.
 */
record StagingGrid(GpuBench bench) implements Row {

    private static final int[] WORKERS = {8, 12, 16};
    private static final int[] BUFFERS = {2, 3, 4};
    private static final long[] BUFFER_MIB = {1, 2, 4};
    private static final long MIB = 1 << 20;

    @Override
    public String name() {
        return "staging-grid";
    }

    @Override
    public boolean isOnlyByName() {
        return true;
    }

    @Override
    public Report run(Settings settings, boolean busy) throws Exception {
        List<Figure> figures = new ArrayList<>();
        for (int workers : WORKERS) {
            for (long mib : BUFFER_MIB) {
                for (int stagingBuffers : BUFFERS) {
                    String name =
                            workers + " staging workers, " + stagingBuffers + " staging buffers of " + mib + " MiB";
                    figures.add(
                            Figure.of(name(), name, Unit.BYTES, measure(settings, name, workers, mib, stagingBuffers)));
                }
            }
        }
        return new Report(List.of(), figures);
    }

    private List<Measure> measure(Settings settings, String name, int workers, long mib, int stagingBuffers)
            throws Exception {
        long staged = workers * mib * stagingBuffers * MIB;
        Options options = bench.options("staged")
                .with(StagingOptions.WORKERS, workers)
                .with(StagingOptions.BUFFER_BYTES, mib * MIB)
                .with(StagingOptions.BUFFERS_PER_WORKER, stagingBuffers)
                .with(CommonOptions.QUEUE_BYTES, Math.max(CommonOptions.QUEUE_BYTES.fallback(), staged + staged / 2));
        long all = bench.sizes().hotBytes();
        Contender reader =
                new GpuRead(name, new GpuRead.Plan(bench.hot(), all, all, options, Set.of(FileOption.READ), false));
        try {
            List<Measure> measures = new ArrayList<>();
            for (int round = -1; round < settings.pairs(); round++) { // the first one warms up
                Measure measure = reader.run(settings.nanos());
                if (round >= 0) {
                    measures.add(measure);
                }
            }
            reader.verify();
            return measures;
        } finally {
            reader.close();
        }
    }
}
