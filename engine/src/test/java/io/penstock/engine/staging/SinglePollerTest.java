// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.staging;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class SinglePollerTest {

    private static final long LONG_NANOS = 20_000_000_000L;

    private final SinglePoller poller = new SinglePoller();
    private final Semaphore permits = new Semaphore(0);

    @Test
    void nothingIsHandedOverWithoutAPollingThread() {
        assertThat(poller.handOver()).isFalse();
        assertThat(poller.poll(permits, 0)).isFalse();
        assertThat(poller.handOver()).as("he has gone").isFalse();
    }

    @Test
    void aPollFindsAnExistingPermit() {
        permits.release();
        assertThat(poller.poll(permits, LONG_NANOS)).isTrue();
        assertThat(permits.availablePermits()).isZero();
    }

    @Test
    void aPollingThreadIsHandedExactlyOnePermit() throws InterruptedException {
        AtomicInteger found = new AtomicInteger();
        Thread polls = new Thread(() -> found.addAndGet(poller.poll(permits, LONG_NANOS) ? 1 : 0));
        polls.start();
        while (!poller.handOver()) {
            Thread.onSpinWait();
        }
        assertThat(poller.handOver())
                .as("before he has noticed, or after he left")
                .isFalse();
        polls.join();
        assertThat(found).hasValue(1);
    }

    @Test
    void noPermitIsLostOrCreatedByPollingAndSleepingThreads() throws InterruptedException {
        int given = 200_000;
        AtomicInteger taken = new AtomicInteger();
        List<Thread> takers = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            Thread taker = new Thread(() -> {
                while (taken.get() < given) {
                    if (permits.tryAcquire() || poller.poll(permits, 2_000)) {
                        taken.incrementAndGet();
                    }
                }
            });
            takers.add(taker);
            taker.start();
        }
        for (int i = 0; i < given; i++) {
            if (!poller.handOver()) {
                permits.release();
            }
        }
        for (Thread taker : takers) {
            taker.join();
        }
        assertThat(taken).hasValue(given);
        assertThat(permits.availablePermits()).isZero();
        assertThat(poller.poll(permits, 0)).as("one is left").isFalse();
    }
}
