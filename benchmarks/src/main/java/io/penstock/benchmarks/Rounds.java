// SPDX-License-Identifier: Apache-2.0
package io.penstock.benchmarks;

import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * A row of contenders that run by turns: once to warm up, then as many rounds as there are pairs, every other one
 * backwards, so that what drifts meets both of a pair alike. After each run the bytes are checked.
 */
record Rounds(String name, List<Factory> contenders, List<Comparison> comparisons) implements Row {

    /** Makes a contender ready to run. */
    interface Factory {
        Contender open() throws Exception;
    }

    @Override
    public List<Result> run(Settings settings, boolean busy) throws Exception {
        List<Contender> open = new ArrayList<>();
        try {
            for (Factory factory : contenders) {
                open.add(factory.open());
            }
            return compare(measure(open, settings), busy);
        } finally {
            for (Contender contender : open) {
                contender.close();
            }
        }
    }

    private Map<String, List<Measure>> measure(List<Contender> open, Settings settings) throws Exception {
        Map<String, List<Measure>> measures = new LinkedHashMap<>();
        List<Contender> order = new ArrayList<>(open);
        for (int round = -1; round < settings.pairs(); round++) { // the first one warms up
            for (Contender contender : List.copyOf(order)) {
                try {
                    Measure measure = contender.run(settings.nanos());
                    contender.verify();
                    if (round >= 0) {
                        measures.computeIfAbsent(contender.name(), any -> new ArrayList<>())
                                .add(measure);
                    }
                } catch (Exception e) {
                    order.remove(contender); // the others go on; a comparison with fewer measures is left out
                    measures.remove(contender.name());
                    System.err.println(name + ": " + contender.name() + " gives up: " + e);
                }
            }
            Collections.reverse(order);
        }
        return measures;
    }

    private List<Result> compare(Map<String, List<Measure>> measures, boolean busy) {
        List<Result> results = new ArrayList<>();
        for (Comparison comparison : comparisons) {
            List<Measure> ours = measures.get(comparison.ours());
            List<Measure> peers = measures.get(comparison.peer());
            if (ours == null || peers == null) {
                continue; // one of them gave up, and was reported
            }
            double[] values = new double[ours.size()];
            for (int pair = 0; pair < values.length; pair++) {
                values[pair] = comparison.kind().of(ours.get(pair), peers.get(pair));
            }
            String detail = describe(comparison.ours(), ours) + "; " + describe(comparison.peer(), peers);
            results.add(Result.of(comparison, values, detail, busy));
        }
        return results;
    }

    private static String describe(String name, List<Measure> measures) {
        double rate =
                Result.median(measures.stream().mapToDouble(Measure::perSecond).toArray());
        double processors =
                Result.median(measures.stream().mapToDouble(Measure::processors).toArray());
        double cpuEach = Result.median(
                measures.stream().mapToDouble(Measure::cpuNanosEach).toArray());
        return String.format(
                Locale.ROOT, "%s %,.0f/s, %.2f CPU s/s, %,.0f CPU ns each", name, rate, processors, cpuEach);
    }
}
