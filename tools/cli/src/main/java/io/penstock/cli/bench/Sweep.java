// SPDX-License-Identifier: Apache-2.0
package io.penstock.cli.bench;

import io.penstock.Backend;
import io.penstock.Option;
import io.penstock.Options;
import io.penstock.TransferPath;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.IntStream;
import java.util.stream.LongStream;

/**
 * Searches what serves a machine best: first the size of a transfer and how many are in flight, which are the
 * application's to choose, then the two options of the library that matter most for the path taken: how many workers
 * there are, and how much each moves at a time.
 *
 * <p><b>Threading:</b> used by one thread, which blocks for as long as the measurements take.
 */
public final class Sweep {

    private static final long KIB = 1 << 10;
    private static final long MIB = 1 << 20;
    private static final long[] BLOCKS = {64 * KIB, 256 * KIB, MIB, 4 * MIB, 16 * MIB};
    private static final int[] DEPTHS = {1, 4, 16, 64};
    private static final int[] WORKERS = {1, 2, 4, 8, 12, 16, 24, 32};
    private static final long MOST_IN_FLIGHT = 256 * MIB;
    private static final int PAIRS = 5;
    private static final int WARM_UP_SHARE = 4; // of a run's time

    /** Receives what is about to be measured. */
    public interface Listener {

        /** Called before each of {@code total} runs. */
        void measuring(int run, int total);
    }

    /**
     * One measurement.
     *
     * @param work what was done
     * @param settings the options by name, none for the defaults
     * @param figures what was measured
     */
    public record Point(Workload work, Map<String, String> settings, Figures figures) {

        double rate() {
            return figures.bytesPerSecond();
        }
    }

    /**
     * What was found.
     *
     * @param transfers the points of the first step
     * @param best the best of them
     * @param options the points of the second step
     * @param settings the best options; none if the defaults are as good
     * @param ratios the rate with these over that with the defaults, of pairs in turn, in ascending order
     */
    public record Result(
            List<Point> transfers, Point best, List<Point> options, Map<String, String> settings, List<Double> ratios) {

        /** Returns the median of the ratios; 1 if there are none. */
        public double gain() {
            return ratios.isEmpty() ? 1 : ratios.get(ratios.size() / 2);
        }
    }

    /** Two options: how many workers a path has, and how many bytes each moves at a time. */
    private record Axes(String workers, String bytes, List<Long> sizes) {

        static Axes of(TransferPath path) {
            return switch (path) {
                case HOST -> new Axes("penstock.host.queues", "penstock.segment-bytes", sizes(256 * KIB, 4 * MIB));
                case STAGED ->
                    new Axes("penstock.staging.workers", "penstock.staging.buffer-bytes", sizes(512 * KIB, 8 * MIB));
                case MAPPED ->
                    new Axes(
                            "penstock.cufile.mapped-threads",
                            "penstock.cufile.mapped-segment-bytes",
                            sizes(32 * MIB, 256 * MIB));
                case REMOTE -> throw new IllegalArgumentException("bench reads files of this host");
                case COMPAT, DIRECT ->
                    new Axes("penstock.cufile.threads", "penstock.cufile.segment-bytes", sizes(MIB, 16 * MIB));
            };
        }

        private static List<Long> sizes(long least, long most) {
            return LongStream.iterate(least, size -> size <= most, size -> 2 * size)
                    .boxed()
                    .toList();
        }

        List<Map<String, String>> settings() {
            int processors = Runtime.getRuntime().availableProcessors();
            List<Map<String, String>> all = new ArrayList<>();
            for (int count : IntStream.of(WORKERS)
                    .filter(count -> count <= Math.max(2, processors))
                    .toArray()) {
                for (long size : sizes) {
                    Map<String, String> settings = new LinkedHashMap<>();
                    settings.put(workers, String.valueOf(count));
                    settings.put(bytes, Option.show(size));
                    all.add(settings);
                }
            }
            return all;
        }
    }

    private final Workload work;
    private final Function<Options, Backend> open;
    private final Options base;
    private final long nanos;
    private final Listener listener;
    private int run;
    private int total;

    /**
     * Creates a sweep.
     *
     * @param work its size and depth of transfers are replaced
     * @param open opens the backend to measure, which the sweep closes
     * @param base options of all measurements
     * @param nanos the time of one measurement
     */
    public Sweep(Workload work, Function<Options, Backend> open, Options base, long nanos, Listener listener) {
        this.work = work;
        this.open = open;
        this.base = base;
        this.nanos = nanos;
        this.listener = listener;
    }

    /**
     * Measures everything.
     *
     * @throws IOException if a transfer fails
     */
    public Result run() throws IOException, InterruptedException {
        List<Workload> works = workloads();
        if (works.isEmpty()) {
            throw new IllegalArgumentException(
                    "a sweep needs at least " + BLOCKS[0] + " bytes of a file, had " + work.bytes());
        }
        total = works.size() + 1;
        List<Point> transfers = new ArrayList<>();
        measure(works.get(works.size() - 1), Map.of()); // compiles the code; not counted
        for (Workload each : works) {
            transfers.add(measure(each, Map.of()));
        }
        Point best = fastest(transfers);
        List<Map<String, String>> settings =
                Axes.of(best.figures().last().path()).settings();
        total += settings.size() + 2 * PAIRS;
        List<Point> options = new ArrayList<>();
        for (Map<String, String> each : settings) {
            options.add(measure(best.work(), each));
        }
        Map<String, String> chosen = fastest(options).settings();
        List<Double> ratios = pairs(best.work(), chosen);
        // Of many noisy points the best is lucky: it counts if it wins each pair.
        return new Result(transfers, best, options, ratios.get(0) > 1 ? chosen : Map.of(), ratios);
    }

    private List<Workload> workloads() {
        List<Workload> works = new ArrayList<>();
        for (long block : BLOCKS) {
            for (int depth : DEPTHS) {
                if (block <= work.bytes() && block * depth <= MOST_IN_FLIGHT) {
                    works.add(work.with(block, depth));
                }
            }
        }
        return works;
    }

    private List<Double> pairs(Workload each, Map<String, String> settings) throws IOException, InterruptedException {
        List<Double> ratios = new ArrayList<>();
        for (int pair = 0; pair < PAIRS; pair++) {
            double defaults = measure(each, Map.of()).rate();
            ratios.add(measure(each, settings).rate() / defaults);
        }
        ratios.sort(null);
        return ratios;
    }

    private Point measure(Workload each, Map<String, String> settings) throws IOException, InterruptedException {
        listener.measuring(++run, total);
        Options options = base;
        for (Map.Entry<String, String> setting : settings.entrySet()) {
            options = options.with(setting.getKey(), setting.getValue());
        }
        try (Backend backend = open.apply(options);
                Benchmark benchmark = Benchmark.open(each, List.of(backend))) {
            benchmark.run(nanos / WARM_UP_SHARE, (bytes, now) -> {});
            return new Point(each, settings, benchmark.run(nanos, (bytes, now) -> {}));
        }
    }

    private static Point fastest(List<Point> points) {
        return points.stream().max(Comparator.comparingDouble(Point::rate)).orElseThrow();
    }
}
