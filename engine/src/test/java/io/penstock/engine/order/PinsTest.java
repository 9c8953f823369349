// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.order;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class PinsTest {

    private final AtomicInteger freed = new AtomicInteger();
    private final Pins pins = new Pins(freed::incrementAndGet);

    @Test
    void closingWithoutPinsFreesAtOnce() {
        assertThat(pins.close()).isTrue();
        assertThat(freed).hasValue(1);
        assertThat(pins.close()).as("the second close").isFalse();
        assertThat(freed).hasValue(1);
    }

    @Test
    void closingWhilePinnedDefersTheFreeToTheLastUnpin() {
        pins.tryPin();
        pins.tryPin();
        assertThat(pins.count()).isEqualTo(2);
        assertThat(pins.close()).isTrue();
        assertThat(pins.isClosed()).isTrue();
        pins.unpin();
        assertThat(freed).as("freed while still pinned").hasValue(0);
        assertThat(pins.tryPin()).as("pinned after close").isFalse();
        pins.unpin();
        assertThat(freed).hasValue(1);
    }

    @Test
    void unpinningTooOftenIsAnError() {
        assertThatThrownBy(pins::unpin).isInstanceOf(IllegalStateException.class);
    }

    @Test
    void whateverTheInterleavingItIsFreedOnceAndNeverWhilePinned() throws InterruptedException {
        for (int round = 0; round < 300; round++) {
            AtomicInteger frees = new AtomicInteger();
            AtomicInteger usedAfterFree = new AtomicInteger();
            Pins shared = new Pins(frees::incrementAndGet);
            CountDownLatch start = new CountDownLatch(1);
            List<Thread> threads = new ArrayList<>();
            for (int t = 0; t < 3; t++) {
                threads.add(new Thread(() -> {
                    await(start);
                    for (int i = 0; i < 1_000_000 && shared.tryPin(); i++) {
                        usedAfterFree.addAndGet(frees.get());
                        shared.unpin();
                    }
                }));
            }
            threads.add(new Thread(() -> {
                await(start);
                shared.close();
            }));
            threads.forEach(Thread::start);
            start.countDown();
            for (Thread thread : threads) {
                thread.join();
            }
            assertThat(frees).hasValue(1);
            assertThat(usedAfterFree).hasValue(0);
            assertThat(shared.count()).isZero();
        }
    }

    static void await(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }
}
