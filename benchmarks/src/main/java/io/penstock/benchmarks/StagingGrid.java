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
 * What the hot file comes to through slots of several sizes, with several fillers: for choosing the defaults, so it is
 * measured only where {@code --rows} names it. One after another, since a process has one number of fillers at a time.
 */
record StagingGrid(GpuBench bench) implements Row {

    private static final int[] FILLERS = {8, 12, 16};
    private static final int[] SLOTS = {2, 3, 4};
    private static final long[] SLOT_MIB = {1, 2, 4};
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
        for (int fillers : FILLERS) {
            for (long mib : SLOT_MIB) {
                for (int slots : SLOTS) {
                    String name = fillers + " fillers, " + slots + " slots of " + mib + " MiB";
                    figures.add(Figure.of(name(), name, Unit.BYTES, measure(settings, name, fillers, mib, slots)));
                }
            }
        }
        return new Report(List.of(), figures);
    }

    private List<Measure> measure(Settings settings, String name, int fillers, long mib, int slots) throws Exception {
        long staged = fillers * mib * slots * MIB;
        Options options = bench.options("staged")
                .with(StagingOptions.FILLERS, fillers)
                .with(StagingOptions.SLOT_BYTES, mib * MIB)
                .with(StagingOptions.SLOTS_PER_FILLER, slots)
                .with(CommonOptions.LANE_BYTES, Math.max(CommonOptions.LANE_BYTES.fallback(), staged + staged / 2));
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
