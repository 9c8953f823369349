// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.kit;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class PauseTest {

    private static final long DAY = TimeUnit.DAYS.toNanos(1);

    private final Pause pause = new Pause().spins(3).yields(2).naps(5_000, 30_000);

    private void awake(int looks) {
        for (int i = 0; i < looks; i++) {
            assertThat(pause.next()).as("look %s", i).isZero();
        }
    }

    @Test
    void napsFollowSpinsAndYieldsAndFakeUpToTheLongest() {
        assertThat(pause.isNew()).isTrue();
        awake(5);
        assertThat(pause.isNew()).isFalse();
        assertThat(pause.next()).isEqualTo(5_000);
        assertThat(pause.next()).isEqualTo(10_000);
        assertThat(pause.isLongest()).isFalse();
        assertThat(pause.next()).isEqualTo(20_000);
        assertThat(pause.next()).isEqualTo(30_000);
        assertThat(pause.isLongest()).isTrue();
        assertThat(pause.next()).isEqualTo(30_000);
    }

    @Test
    void itBeginsAgainWhenSomethingHasHappened() {
        awake(5);
        assertThat(pause.next()).isEqualTo(5_000);
        assertThat(pause.next()).isEqualTo(10_000);
        pause.reset();
        assertThat(pause.isNew()).isTrue();
        awake(5);
        assertThat(pause.next()).isEqualTo(5_000);
    }

    @Test
    void aLimitShortensNapsAndNotTheNextOne() {
        Pause naps = new Pause().naps(5_000, 30_000);
        assertThat(naps.next(100)).isEqualTo(100);
        assertThat(naps.next(-1)).isEqualTo(10_000);
        assertThat(naps.next(1_000_000)).isEqualTo(20_000);
    }

    @Test
    void itSpinsForATimeBeforeItYieldsAndNaps() {
        pause.spinFor(DAY);
        awake(1_000);
        pause.spinFor(0); // over at once
        awake(2);
        assertThat(pause.next()).isEqualTo(5_000);
    }

    @Test
    void aTimeThatIsOverCountsNoMore() {
        pause.spinUntil(System.nanoTime() - 1);
        awake(5);
        assertThat(pause.next()).isEqualTo(5_000);
        pause.reset();
        awake(5);
        assertThat(pause.next()).isEqualTo(5_000);
    }

    @Test
    void gapsFollowTheSpinsAndAreNoNaps() {
        Pause apart = new Pause().gaps(1_000, DAY).naps(5_000, 5_000);
        apart.spinFor(0);
        for (int i = 0; i < 10; i++) {
            long start = System.nanoTime();
            assertThat(apart.next()).isZero();
            assertThat(System.nanoTime() - start).isGreaterThanOrEqualTo(1_000);
        }
        apart.spinUntil(System.nanoTime() - 1);
        assertThat(apart.next()).as("gaps are counted from spinFor").isEqualTo(5_000);
    }

    @Test
    void itIdlesForANap() {
        Pause naps = new Pause().naps(20_000, 20_000);
        naps.idle();
        assertThat(naps.isNew()).as("a nap is no look that counts").isTrue();
    }
}
