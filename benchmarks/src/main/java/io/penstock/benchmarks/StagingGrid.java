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
 *
 * @param workers the numbers of staging workers to try
 */
record StagingGrid(GpuBench bench, String name, int[] workers, Reader reader) implements Row {

    private static final int[] BUFFERS = {2, 3};
    private static final long[] BUFFER_KIB = {1024, 2048, 4096};
    private static final long KIB = 1 << 10;

    /** Opens the contender that reads. */
    interface Reader {
        Contender open(String name, Options options) throws Exception;
    }

    /** Returns the grid of one GPU. */
    static StagingGrid ofOne(GpuBench bench) {
        long all = bench.sizes().hotBytes();
        return new StagingGrid(
                bench,
                "staging-grid",
                new int[] {8, 10, 12, 16},
                (name, options) -> new GpuRead(
                        name, new GpuRead.Plan(bench.hot(), all, all, options, Set.of(FileOption.READ), false)));
    }

    @Override
    public boolean isOnlyByName() {
        return true;
    }

    @Override
    public Report run(Settings settings, boolean busy) throws Exception {
        List<Figure> figures = new ArrayList<>();
        for (int workers : workers) {
            for (long kib : BUFFER_KIB) {
                for (int each : BUFFERS) {
                    String name = workers + " staging workers, " + each + " staging buffers of " + kib + " KiB each";
                    figures.add(Figure.of(name(), name, Unit.BYTES, measure(settings, name, workers, kib, each)));
                }
            }
        }
        return new Report(List.of(), figures);
    }

    private List<Measure> measure(Settings settings, String name, int workers, long kib, int each) throws Exception {
        long staged = workers * kib * each * KIB;
        Options options = bench.options("staged")
                .with(StagingOptions.WORKERS, workers)
                .with(StagingOptions.BUFFER_BYTES, kib * KIB)
                .with(StagingOptions.BUFFERS_PER_WORKER, each)
                .with(CommonOptions.QUEUE_BYTES, Math.max(CommonOptions.QUEUE_BYTES.fallback(), staged + staged / 2));
        try (Contender contender = reader.open(name, options)) {
            List<Measure> measures = new ArrayList<>();
            for (int round = -1; round < settings.pairs(); round++) { // the first one warms up
                Measure measure = contender.run(settings.nanos());
                if (round >= 0) {
                    measures.add(measure);
                }
            }
            contender.verify();
            return measures;
        }
    }
}
