// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.kit.fence;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** Its thread is this one, from start to end, where a test runs it; what happens meanwhile happens while it sleeps. */
class EventWatchTest {

    private static final long LONG_SECONDS = 30;

    private final Deque<Runnable> started = new ArrayDeque<>();
    private final Deque<Runnable> whileIdle = new ArrayDeque<>();
    private final List<Long> naps = new ArrayList<>();
    private final EventWatch watch = new EventWatch(this::thread, this::sleep);

    private Thread thread(Runnable work) {
        return new Thread(work) {
            @Override
            public synchronized void start() {
                started.add(work);
            }
        };
    }

    private void sleep(long nanos) {
        if (nanos != EventWatch.IDLE_NANOS) {
            naps.add(nanos);
        } else if (!whileIdle.isEmpty()) {
            whileIdle.remove().run();
        }
    }

    private void runThread() {
        started.remove().run();
    }

    @Test
    void thereIsNoThreadBeforeTheFirstWait() {
        assertThat(started).isEmpty();
        watch.watch(new ScriptedFence(1));
        assertThat(started).hasSize(1);
    }

    @Test
    void aFenceIsPolledUntilItIsSignalledAndNotAgain() {
        ScriptedFence fence = new ScriptedFence(5);
        watch.watch(fence);
        whileIdle.add(() -> watch.watch(new ScriptedFence(3)));
        runThread();
        assertThat(fence.looks).isEqualTo(5);
    }

    @Test
    void oneThreadPollsAllFencesAndEachEndsByItself() {
        List<ScriptedFence> fences = List.of(new ScriptedFence(3), new ScriptedFence(1), new ScriptedFence(7));
        fences.forEach(watch::watch);
        assertThat(started).hasSize(1);
        runThread();
        assertThat(fences).extracting(fence -> fence.looks).containsExactly(3, 1, 7);
    }

    @Test
    void aFenceThatArrivesWhileTheThreadIsIdleIsPolledByTheSameThread() {
        ScriptedFence late = new ScriptedFence(2);
        watch.watch(new ScriptedFence(1));
        whileIdle.add(() -> watch.watch(late));
        runThread();
        assertThat(late.looks).isEqualTo(2);
        assertThat(started).isEmpty();
    }

    @Test
    void aFenceThatArrivesAfterTheThreadHasEndedStartsAnother() {
        watch.watch(new ScriptedFence(1));
        runThread();
        ScriptedFence later = new ScriptedFence(2);
        watch.watch(later);
        assertThat(later.looks).as("not polled yet").isZero();
        runThread();
        assertThat(later.looks).isEqualTo(2);
    }

    @Test
    void noFenceIsLostThatArrivesAsTheThreadEnds() throws InterruptedException {
        EventWatch restless = new EventWatch(Thread::new, nanos -> {}); // ends whenever there is nothing to poll at
        int many = 2_000;
        AtomicInteger told = new AtomicInteger();
        for (int i = 0; i < many; i++) {
            CountDownLatch passed = new CountDownLatch(1);
            restless.watch(() -> {
                told.incrementAndGet();
                passed.countDown();
                return true;
            });
            // The next one comes just now, when the thread finds nothing more to poll at.
            assertThat(passed.await(LONG_SECONDS, TimeUnit.SECONDS)).isTrue();
        }
        assertThat(told).hasValue(many);
    }

    @Test
    void anExceptionOfAFenceDoesNotEndTheWatch() {
        ScriptedFence other = new ScriptedFence(4);
        List<Throwable> uncaught = new ArrayList<>();
        IllegalStateException broken = new IllegalStateException("broken");
        watch.watch(other);
        watch.watch(() -> {
            throw broken;
        });
        Thread here = Thread.currentThread();
        here.setUncaughtExceptionHandler((thread, thrown) -> uncaught.add(thrown));
        try {
            runThread();
        } finally {
            here.setUncaughtExceptionHandler(null);
        }
        assertThat(uncaught).as("and polled no more").containsExactly(broken);
        assertThat(other.looks).isEqualTo(4);
    }

    @Test
    void theSleepBetweenPollsGrowsAndIsResetByEachSignalledFence() {
        watch.watch(new ScriptedFence(EventWatch.SPINS + 3));
        watch.watch(new ScriptedFence(2 * EventWatch.SPINS + 3 + 6));
        runThread();
        assertThat(naps).containsExactly(10_000L, 20_000L, 10_000L, 20_000L, 40_000L, 80_000L, 80_000L);
    }

    @Test
    void aFenceWithASpinTimeIsPolledWithoutASleep() {
        ScriptedFence urgent = new ScriptedFence(1_000, TimeUnit.HOURS.toNanos(1));
        watch.watch(urgent);
        runThread();
        assertThat(urgent.looks).isEqualTo(1_000);
        assertThat(naps).isEmpty();

        watch.watch(new ScriptedFence(EventWatch.SPINS + 2));
        runThread();
        assertThat(naps).as("for one that does not").containsExactly(EventWatch.FIRST_NAP_NANOS);
    }

    @Test
    void itsThreadIsADaemonAndKeepsNoClassLoader() {
        CompletableFuture<Thread> looking = new CompletableFuture<>();
        CompletableFuture<Boolean> keeps = new CompletableFuture<>();
        new EventWatch("penstock-some-events").watch(() -> {
            looking.complete(Thread.currentThread());
            return keeps.complete(Thread.currentThread().getContextClassLoader() != null);
        });
        assertThat(looking.orTimeout(LONG_SECONDS, TimeUnit.SECONDS).join())
                .matches(Thread::isDaemon)
                .extracting(Thread::getName)
                .isEqualTo("penstock-some-events");
        assertThat(keeps.orTimeout(LONG_SECONDS, TimeUnit.SECONDS).join()).isFalse();
    }

    /** Is passed at the poll of which the script says so. */
    private static final class ScriptedFence implements Watched {

        private final int passedAt;
        private final long spinNanos;
        private int looks;

        ScriptedFence(int passedAt) {
            this(passedAt, 0);
        }

        ScriptedFence(int passedAt, long spinNanos) {
            this.passedAt = passedAt;
            this.spinNanos = spinNanos;
        }

        @Override
        public boolean poll() {
            return ++looks >= passedAt;
        }

        @Override
        public long spinNanos() {
            return spinNanos;
        }
    }

    /** As where the limit of threads of the process is reached. */
    @Test
    void aThreadThatCannotStartIsTriedAgainAtTheNextWait() {
        List<OutOfMemoryError> refusals = new ArrayList<>(List.of(new OutOfMemoryError("no thread")));
        EventWatch scarce = new EventWatch(
                work -> new Thread(work) {
                    @Override
                    public synchronized void start() {
                        if (!refusals.isEmpty()) {
                            throw refusals.remove(0);
                        }
                        started.add(work);
                    }
                },
                this::sleep);
        ScriptedFence refused = new ScriptedFence(1);
        assertThatThrownBy(() -> scarce.watch(refused)).isInstanceOf(OutOfMemoryError.class);
        ScriptedFence next = new ScriptedFence(2);
        scarce.watch(next);
        runThread();
        assertThat(next.looks).isEqualTo(2);
        assertThat(refused.looks).as("its caller knows that nobody polls it").isZero();
    }
}
