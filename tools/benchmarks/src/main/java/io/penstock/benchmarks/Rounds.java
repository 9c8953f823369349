// SPDX-License-Identifier: Apache-2.0
package io.penstock.benchmarks;

import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.function.ToDoubleFunction;

/**
 * A row of contenders that run by turns: one run each to warm up, then as many rounds as there are pairs, every other
 * one in reverse order, so that drift affects both of a pair alike. After each run the bytes are checked.
 */
record Rounds(
        String name, Unit unit, Map<String, Factory> contenders, List<Comparison> comparisons, boolean isOnlyByName)
        implements Row {

    /** The prefix that names the best of the contenders whose names begin with the rest. */
    static final String BEST = "best of ";

    private static final int LATENCY_ROUNDS = 3;

    /** Creates a contender, ready to run. */
    interface Factory {
        Contender open() throws Exception;
    }

    @Override
    public Report run(Settings settings, boolean busy) throws Exception {
        Map<String, Contender> open = new LinkedHashMap<>();
        try {
            contenders.forEach((contender, factory) -> open(contender, factory, open));
            Map<String, List<Measure>> measures = measure(open, settings);
            Map<String, String> remarks = new HashMap<>();
            open.forEach((contender, its) -> remarks.put(contender, its.remark()));
            List<Latency.Of> latencies = latencies(open, measures.keySet(), settings);
            return new Report(compare(measures, remarks, busy), figures(measures), latencies);
        } finally {
            open.forEach(this::close);
        }
    }

    private void close(String contender, Contender its) {
        if (!its.log().isEmpty()) {
            System.out.println(contender + ": " + its.log());
        }
        try {
            its.close();
        } catch (Exception e) {
            System.err.println(name + ": " + contender + " cannot be closed: " + e); // its measures stay valid
        }
    }

    private void open(String contender, Factory factory, Map<String, Contender> open) {
        try {
            open.put(contender, factory.open());
        } catch (Exception e) {
            System.err.println(name + ": " + contender + " cannot start: " + e); // the others can
        }
    }

    private List<Figure> figures(Map<String, List<Measure>> measures) {
        List<Figure> figures = new ArrayList<>();
        if (unit != Unit.OPERATIONS) {
            measures.forEach((contender, its) -> figures.add(Figure.of(name, contender, unit, its)));
        }
        return figures;
    }

    private Map<String, List<Measure>> measure(Map<String, Contender> open, Settings settings) {
        Map<String, List<Measure>> measures = new LinkedHashMap<>();
        List<String> order = new ArrayList<>(open.keySet());
        order.forEach(contender -> measures.put(contender, new ArrayList<>())); // in the order of the row
        for (int round = -1; round < settings.pairs(); round++) {
            for (String contender : List.copyOf(order)) {
                try {
                    if (round < 0) {
                        warmUp(open.get(contender), settings);
                    } else {
                        measures.get(contender).add(checked(open.get(contender), settings));
                    }
                } catch (Exception e) {
                    order.remove(contender); // the others continue; a comparison with fewer measures is left out
                    measures.remove(contender);
                    System.err.println(name + ": " + contender + " failed: " + e);
                }
            }
            Collections.reverse(order);
        }
        return measures;
    }

    /** After the rounds, so that no rate has a clock in it: a few more, in turns, of which the medians count. */
    private List<Latency.Of> latencies(Map<String, Contender> open, Set<String> measured, Settings settings) {
        Map<String, List<Latency>> runs = new LinkedHashMap<>();
        Set<String> left = new LinkedHashSet<>(measured);
        for (int round = 0; round < Math.min(LATENCY_ROUNDS, settings.pairs()); round++) {
            for (String contender : List.copyOf(left)) {
                try {
                    Latency latency = open.get(contender).latency(settings.nanos());
                    if (latency != null) {
                        open.get(contender).verify();
                        runs.computeIfAbsent(contender, first -> new ArrayList<>())
                                .add(latency);
                    }
                } catch (Exception e) {
                    left.remove(contender);
                    runs.remove(contender);
                    System.err.println(name + ": " + contender + " failed while its operations were timed: " + e);
                }
            }
        }
        List<Latency.Of> medians = new ArrayList<>();
        runs.forEach((contender, its) -> medians.add(new Latency.Of(name, contender, Latency.median(its))));
        return medians;
    }

    /**
     * One pass over a file is shorter than the compilation of its code. A check of each pass would take the time for
     * it.
     */
    private static void warmUp(Contender contender, Settings settings) throws Exception {
        long begin = System.nanoTime();
        do {
            contender.run(settings.nanos());
        } while (System.nanoTime() - begin < settings.nanos());
        contender.verify();
    }

    private static Measure checked(Contender contender, Settings settings) throws Exception {
        Measure measure = contender.run(settings.nanos());
        contender.verify();
        return measure;
    }

    private List<Result> compare(Map<String, List<Measure>> measures, Map<String, String> remarks, boolean busy) {
        List<Result> results = new ArrayList<>();
        for (Comparison comparison : comparisons) {
            String oursName = resolve(comparison.ours(), measures);
            String peersName = resolve(comparison.peer(), measures);
            List<Measure> ours = measures.get(oursName);
            List<Measure> peers = measures.get(peersName);
            if (ours == null || peers == null) {
                continue; // one of them gave up, and was reported
            }
            double[] values = new double[ours.size()];
            for (int pair = 0; pair < values.length; pair++) {
                values[pair] = comparison.kind().of(ours.get(pair), peers.get(pair));
            }
            String detail = describe(oursName, ours, remarks) + "; " + describe(peersName, peers, remarks);
            results.add(Result.of(comparison, values, detail, busy));
        }
        return results;
    }

    /** Returns a contender's name; for the best of several, the fastest in the median. */
    private static String resolve(String wanted, Map<String, List<Measure>> measures) {
        if (!wanted.startsWith(BEST)) {
            return wanted;
        }
        String prefix = wanted.substring(BEST.length());
        return measures.keySet().stream()
                .filter(name -> name.startsWith(prefix))
                .max(Comparator.comparingDouble(name -> median(measures.get(name), Measure::perSecond)))
                .orElse(wanted);
    }

    private static double median(List<Measure> measures, ToDoubleFunction<Measure> value) {
        return Result.median(measures.stream().mapToDouble(value).toArray());
    }

    private String describe(String name, List<Measure> measures, Map<String, String> remarks) {
        String remark = remarks.getOrDefault(name, "");
        return describe(name, measures) + (remark.isEmpty() ? "" : " (" + remark + ")");
    }

    private String describe(String name, List<Measure> measures) {
        if (unit != Unit.OPERATIONS) {
            return String.format(
                    Locale.ROOT,
                    "%s %s %s, %s %s",
                    name,
                    Unit.number(median(measures, unit::of)),
                    unit.name,
                    Unit.number(median(measures, unit::cpuOf)),
                    unit.cpuName);
        }
        double rate = median(measures, Measure::perSecond);
        double processors = median(measures, Measure::processors);
        double cpuEach = median(measures, Measure::cpuNanosEach);
        return String.format(
                Locale.ROOT, "%s %,.0f/s, %.2f CPU s/s, %,.0f CPU ns each", name, rate, processors, cpuEach);
    }
}
