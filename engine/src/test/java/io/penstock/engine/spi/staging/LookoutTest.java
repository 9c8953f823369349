// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.spi.staging;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class LookoutTest {

    private static final long LONG_NANOS = 20_000_000_000L;

    private final Lookout lookout = new Lookout();
    private final Semaphore permits = new Semaphore(0);

    @Test
    void nothingIsHandedWhereNobodyLooks() {
        assertThat(lookout.hand()).isFalse();
        assertThat(lookout.look(permits, 0)).isFalse();
        assertThat(lookout.hand()).as("he has gone").isFalse();
    }

    @Test
    void whoLooksFindsWhatIsThereAlready() {
        permits.release();
        assertThat(lookout.look(permits, LONG_NANOS)).isTrue();
        assertThat(permits.availablePermits()).isZero();
    }

    @Test
    void whoLooksIsHandedOneAndOneOnly() throws InterruptedException {
        AtomicInteger found = new AtomicInteger();
        Thread looks = new Thread(() -> found.addAndGet(lookout.look(permits, LONG_NANOS) ? 1 : 0));
        looks.start();
        while (!lookout.hand()) {
            Thread.onSpinWait();
        }
        assertThat(lookout.hand()).as("before he has noticed, or after he left").isFalse();
        looks.join();
        assertThat(found).hasValue(1);
    }

    @Test
    void noPermitIsLostAndNoneIsMadeWhoeverLooksAndSleeps() throws InterruptedException {
        int given = 200_000;
        AtomicInteger taken = new AtomicInteger();
        List<Thread> takers = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            Thread taker = new Thread(() -> {
                while (taken.get() < given) {
                    if (permits.tryAcquire() || lookout.look(permits, 2_000)) {
                        taken.incrementAndGet();
                    }
                }
            });
            takers.add(taker);
            taker.start();
        }
        for (int i = 0; i < given; i++) {
            if (!lookout.hand()) {
                permits.release();
            }
        }
        for (Thread taker : takers) {
            taker.join();
        }
        assertThat(taken).hasValue(given);
        assertThat(permits.availablePermits()).isZero();
        assertThat(lookout.look(permits, 0)).as("one is left").isFalse();
    }
}
