// SPDX-License-Identifier: Apache-2.0
package io.penstock.benchmarks;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Iterator;
import java.util.List;
import org.junit.jupiter.api.Test;

class MeasureTest {

    private static Result result(double goal, boolean atLeast, double... values) {
        return Result.of("row", "mode", values, goal, atLeast, "x", "detail", false);
    }

    @Test
    void operationsThatAreMeasuredOneByOneHaveTheMedianTimeAndTheirShareOfTheProcessor() throws Exception {
        Iterator<Long> times = List.of(7L, 900L, 5L, 8L).iterator();
        Iterator<Long> processor = List.of(1_000L, 1_400L).iterator();
        Measure measure = Measure.ofMedian(4, times::next, processor::next);
        assertThat(measure.nanosEach()).isEqualTo(8);
        assertThat(measure.cpuNanosEach()).isEqualTo(100);
    }

    @Test
    void workHasItsOperationsAndTheProcessorTimeOfItsRun() throws Exception {
        Iterator<Long> processor = List.of(1_000L, 1_400L).iterator();
        Measure measure = Measure.of(() -> 20, processor::next);
        assertThat(measure.operations()).isEqualTo(20);
        assertThat(measure.cpuNanosEach()).isEqualTo(20);
    }

    @Test
    void theMedianOfAnEvenNumberIsBetweenTheTwoInTheMiddle() {
        assertThat(result(1, true, 9, 1, 2, 4).ratio()).isEqualTo(3);
        assertThat(result(1, true, 9, 1, 2).ratio()).isEqualTo(2);
    }

    @Test
    void aGoalIsReachedFromItsOwnSide() {
        assertThat(result(2, true, 2).isReached()).isTrue();
        assertThat(result(2, true, 1.999).isReached()).isFalse();
        assertThat(result(2, false, 2).isReached()).isTrue();
        assertThat(result(2, false, 2.001).isReached()).isFalse();
        assertThat(result(2, false, 2.001).toMarkdown()).contains("**no**");
        assertThat(result(2, false, 2.001).toJson()).contains("\"better\": \"less\", \"reached\": false");
    }

    @Test
    void unitsAreWhatTheyAreCalled() {
        Measure gibibyte = new Measure(1L << 30, 500_000_000, 250_000_000);
        assertThat(Unit.BYTES.of(gibibyte)).isEqualTo((1L << 30) * 2 / 1e9);
        assertThat(Unit.BYTES.cpuOf(gibibyte)).isEqualTo(0.25);
        Measure one = new Measure(1, 5_000_000, 2_000_000);
        assertThat(Unit.MILLISECONDS.of(one)).isEqualTo(5);
        assertThat(Unit.MICROSECONDS.of(one)).isEqualTo(5_000);
        assertThat(Unit.BLOCKS.of(new Measure(3_000, 1_000_000_000, 1))).isEqualTo(3);
    }
}
