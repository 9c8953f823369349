// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.spi;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class WakeupTest {

    private final AtomicInteger ends = new AtomicInteger();
    private final Wakeup wakeup = new Wakeup(ends::incrementAndGet);

    @Test
    void aWakeBeforehandPreventsOneWaitAndEndsNone() {
        wakeup.wake();
        wakeup.wake();
        assertThat(ends).as("no thread waits").hasValue(0);
        assertThat(wakeup.begin()).as("woken twice, looks once").isFalse();
        assertThat(wakeup.begin()).isTrue();
    }

    @Test
    void oneOfSeveralWakersEndsAWait() {
        assertThat(wakeup.begin()).isTrue();
        assertThat(wakeup.isWaiting()).isTrue();
        wakeup.wake();
        assertThat(wakeup.isWaiting()).isFalse();
        wakeup.wake();
        assertThat(wakeup.rouse()).isFalse();
        assertThat(ends).hasValue(1);
    }

    @Test
    void aWakeThatEndedAWaitPreventsNoOther() {
        assertThat(wakeup.begin()).isTrue();
        wakeup.wake();
        assertThat(wakeup.end()).isTrue();
        assertThat(wakeup.begin()).isTrue();
        assertThat(wakeup.end()).as("by itself").isFalse();
    }

    @Test
    void onlyAThreadThatWaitsIsRoused() {
        assertThat(wakeup.rouse()).isFalse();
        assertThat(wakeup.begin()).as("it is not kept").isTrue();
        assertThat(wakeup.rouse()).isTrue();
        assertThat(wakeup.rouse()).as("another has").isFalse();
        assertThat(ends).hasValue(1);
        assertThat(wakeup.end()).isTrue();
    }

    @Test
    void workPublishedWithoutAWakeIsSeenBeforeAWait() {
        AtomicBoolean work = new AtomicBoolean();
        wakeup.checkFor(work::get);
        assertThat(wakeup.poll()).isFalse();
        work.set(true);
        assertThat(wakeup.begin()).isFalse();
        assertThat(wakeup.isWaiting()).isFalse();
        assertThat(wakeup.poll()).isTrue();
        work.set(false);
        assertThat(wakeup.begin()).isTrue();
    }

    @Test
    void aWakeIsTakenOnceByAPollToo() {
        wakeup.wake();
        wakeup.wake();
        assertThat(wakeup.poll()).isTrue();
        assertThat(wakeup.poll()).isFalse();
        assertThat(wakeup.begin()).isTrue();
    }

    @Test
    void anAnnouncementLeavesWhatWasAnnouncedOrKept() {
        assertThat(wakeup.announce()).isTrue();
        assertThat(wakeup.announce()).isFalse();
        assertThat(wakeup.rouse()).isTrue();
        assertThat(wakeup.announce()).isFalse();
        assertThat(wakeup.end()).isTrue();
        wakeup.wake();
        assertThat(wakeup.announce()).isFalse();
        assertThat(wakeup.poll()).as("still there").isTrue();
    }

    @Test
    void aParkedThreadIsWokenHoweverOften() throws InterruptedException {
        Wakeup parks = new Wakeup();
        int rounds = 20_000;
        AtomicInteger work = new AtomicInteger();
        Thread waiter = new Thread(() -> {
            for (int seen = 0; seen < rounds; ) {
                parks.await(-1);
                seen = work.get();
            }
        });
        waiter.start();
        for (int i = 0; i < rounds; i++) {
            work.incrementAndGet();
            parks.wake();
        }
        waiter.join();
        assertThat(work).hasValue(rounds);
    }

    @Test
    void aParkedThreadThatChecksForWorkIsRousedEachTime() throws InterruptedException {
        Wakeup parks = new Wakeup();
        int rounds = 20_000;
        AtomicInteger work = new AtomicInteger();
        AtomicInteger seen = new AtomicInteger();
        parks.checkFor(() -> work.get() != seen.get());
        Thread waiter = new Thread(() -> {
            while (seen.get() < rounds) {
                parks.await(-1);
                seen.set(work.get());
            }
        });
        waiter.start();
        for (int i = 0; i < rounds; i++) {
            work.incrementAndGet();
            parks.rouse();
        }
        waiter.join();
        assertThat(seen).hasValue(rounds);
    }

    @Test
    void aBoundedWaitIsBounded() {
        long start = System.nanoTime();
        new Wakeup().await(2_000_000);
        assertThat(System.nanoTime() - start).isGreaterThanOrEqualTo(2_000_000);
    }

    @Test
    void anInterruptionEndsNoWaitAndStaysPending() throws InterruptedException {
        Wakeup parks = new Wakeup();
        List<Boolean> after = new ArrayList<>();
        CountDownLatch interrupted = new CountDownLatch(1);
        Thread waiter = new Thread(() -> {
            Thread.currentThread().interrupt();
            interrupted.countDown();
            parks.await(-1);
            after.add(Thread.currentThread().isInterrupted());
        });
        waiter.setDaemon(true);
        waiter.start();
        interrupted.await(); // before, it looks parked when its first attempt to park is about to return
        boolean parked = false;
        for (int tries = 0; tries < 10_000 && !parked; tries++) {
            Thread.sleep(1);
            parked = hasParked(waiter);
        }
        assertThat(parked).as("parked, not spinning").isTrue();
        parks.wake();
        waiter.join();
        assertThat(after).containsExactly(true);
    }

    /** With the interruption still pending, each attempt to park would return at once. */
    private static boolean hasParked(Thread thread) {
        return !thread.isInterrupted() && thread.getState() == Thread.State.WAITING;
    }
}
