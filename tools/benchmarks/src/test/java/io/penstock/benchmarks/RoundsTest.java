// SPDX-License-Identifier: Apache-2.0
package io.penstock.benchmarks;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Contenders of which each run is known. */
class RoundsTest {

    private static final long SECOND = 1_000_000_000;

    private final List<String> runs = new ArrayList<>();
    private final List<String> closed = new ArrayList<>();

    /** Takes a given time for an operation of each run, the first of which is the warm-up's. */
    private final class Known implements Contender {
        private final String name;
        private final long[] nanos;
        private int run;
        private int wrongIn = Integer.MAX_VALUE;
        private double[] micros = {};
        private int timed;

        Known(String name, long... nanos) {
            this.name = name;
            this.nanos = nanos;
        }

        Known wrongIn(int number) {
            wrongIn = number;
            return this;
        }

        /** Knows how long its operations take, in each timed run. */
        Known taking(double... each) {
            micros = each;
            return this;
        }

        @Override
        public @Nullable Latency latency(long limit) {
            if (micros.length == 0) {
                return null;
            }
            run++;
            double each = micros[timed++];
            return new Latency(each, 10 * each, 100 * each);
        }

        @Override
        public Measure run(long limit) {
            runs.add(name);
            long took = nanos[Math.min(run++, nanos.length - 1)];
            return new Measure(1, took, took / 2);
        }

        @Override
        public void verify() throws IOException {
            if (run > wrongIn) {
                throw new IOException("wrong bytes");
            }
        }

        @Override
        public void close() throws IOException {
            closed.add(name);
            if (name.startsWith("stuck")) {
                throw new IOException("cannot be closed");
            }
        }
    }

    private static Map.Entry<String, Rounds.Factory> of(String name, Rounds.Factory contender) {
        return Map.entry(name, contender);
    }

    @SafeVarargs
    private static Report report(
            int pairs, List<Comparison> comparisons, Map.Entry<String, Rounds.Factory>... contenders) throws Exception {
        Map<String, Rounds.Factory> named = new LinkedHashMap<>();
        for (Map.Entry<String, Rounds.Factory> each : contenders) {
            named.put(each.getKey(), each.getValue());
        }
        Settings settings = new Settings("host", null, "", pairs, 0, Path.of("none"), true, Settings.Sizes.DEFAULT);
        Rounds rounds = new Rounds("row", Unit.MICROSECONDS, named, comparisons, false);
        return rounds.run(settings, false);
    }

    private static Comparison speed(String ours, String peer) {
        return new Comparison("row", "", ours, peer, Comparison.Kind.SPEED, 1);
    }

    @Test
    void everyOtherRoundIsInReverseOrderAndTheWarmUpCountsNowhere() throws Exception {
        Report report = report(
                3,
                List.of(speed("a", "b")),
                of("a", () -> new Known("a", 9 * SECOND, 1_000)),
                of("b", () -> new Known("b", SECOND / 2, 2_000)));
        assertThat(runs).containsExactly("a", "b", "b", "a", "a", "b", "b", "a");
        assertThat(report.results()).singleElement().matches(result -> result.ratio() == 2 && result.low() == 2);
        assertThat(report.figures())
                .extracting(Figure::values)
                .containsExactly(List.of(1.0, 1.0, 1.0), List.of(2.0, 2.0, 2.0));
    }

    @Test
    void eachRunIsComparedWithThePeersOfItsRound() throws Exception {
        Report report = report(
                3,
                List.of(speed("ours", "peer")),
                of("ours", () -> new Known("ours", 0, 1_000, 1_000, 4_000)),
                of("peer", () -> new Known("peer", 0, 1_000, 2_000, 16_000)));
        Result result = report.results().get(0);
        assertThat(result.ratio()).isEqualTo(2);
        assertThat(result.low()).isEqualTo(1);
        assertThat(result.high()).isEqualTo(4);
    }

    @Test
    void aContenderThatMovesWrongBytesIsInNoReport() throws Exception {
        for (int run = 0; run < 3; run++) {
            int wrong = run;
            Report report = report(
                    2,
                    List.of(speed("a", "b"), speed("a", "c")),
                    of("a", () -> new Known("a", 1_000)),
                    of("b", () -> new Known("b", 1_000).wrongIn(wrong)),
                    of("c", () -> new Known("c", 1_000)));
            assertThat(report.figures())
                    .as("wrong in run %d", run)
                    .extracting(Figure::contender)
                    .containsExactly("a", "c");
            assertThat(report.results())
                    .singleElement()
                    .matches(result -> result.detail().contains("; c "));
        }
    }

    @Test
    void theBestOfSeveralIsTheFastestInTheMedian() throws Exception {
        Report report = report(
                3,
                List.of(speed("ours", Rounds.BEST + "peer")),
                of("ours", () -> new Known("ours", 0, 4_000)),
                of("peer 1", () -> new Known("peer 1", 0, 8_000)),
                of("peer 2", () -> new Known("peer 2", 0, 2_000)),
                of("peer 3", () -> new Known("peer 3", 0, 1, 9_000, 9_000)));
        assertThat(report.results()).singleElement().matches(result -> result.ratio() == 0.5);
    }

    @Test
    void latenciesAreTheMediansOfTimedRunsAfterTheRounds() throws Exception {
        Report report = report(
                3,
                List.of(),
                of("a", () -> new Known("a", 1_000).taking(4, 1, 2)),
                of("does not know", () -> new Known("does not know", 1_000)),
                of(
                        "moves wrong bytes",
                        () -> new Known("moves wrong bytes", 1_000)
                                .taking(1, 1, 1)
                                .wrongIn(5)));
        assertThat(report.figures())
                .extracting(Figure::contender)
                .containsExactly("a", "does not know", "moves wrong bytes");
        assertThat(report.latencies()).containsExactly(new Latency.Of("row", "a", new Latency(2, 20, 200)));
    }

    @Test
    void allThatWereOpenedAreClosedWhateverHappens() throws Exception {
        Report report = report(
                1,
                List.of(speed("a", "b")),
                of("stuck", () -> new Known("stuck", 1_000)),
                of("none", () -> {
                    throw new IOException("cannot start");
                }),
                of("a", () -> new Known("a", 1_000)),
                of("b", () -> new Known("b", 1_000).wrongIn(0)));
        assertThat(closed).containsExactlyInAnyOrder("stuck", "a", "b");
        assertThat(report.results()).isEmpty();
        assertThat(report.figures()).extracting(Figure::contender).containsExactly("stuck", "a");
    }
}
