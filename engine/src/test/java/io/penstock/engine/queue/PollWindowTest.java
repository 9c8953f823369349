// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.queue;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class PollWindowTest {

    private final PollWindow window = new PollWindow(100_000);

    private long after(long waited) {
        window.waited(waited);
        return window.nanos();
    }

    @Test
    void itOpensByStepsWhileWaitsAreShort() {
        assertThat(window.nanos()).as("at first").isZero();
        assertThat(after(60_000)).isEqualTo(10_000);
        assertThat(after(60_000)).isEqualTo(20_000);
        assertThat(after(60_000)).isEqualTo(40_000);
        assertThat(after(60_000)).isEqualTo(80_000);
        assertThat(after(60_000)).as("which polling has met").isEqualTo(80_000);
        assertThat(after(100_000)).as("the longest").isEqualTo(100_000);
        assertThat(after(100_000)).isEqualTo(100_000);
    }

    @Test
    void aLongWaitClosesIt() {
        after(60_000);
        assertThat(after(100_001)).isZero();
        assertThat(after(Long.MAX_VALUE)).isZero();
        assertThat(after(5)).as("from the beginning").isEqualTo(10_000);
    }

    @Test
    void itStaysClosedWithoutTheOption() {
        PollWindow closed = new PollWindow(0);
        closed.waited(1);
        closed.waited(0);
        assertThat(closed.nanos()).isZero();
    }
}
