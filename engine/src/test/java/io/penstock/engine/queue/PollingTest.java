// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.queue;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.engine.FakeQueue;
import io.penstock.engine.ManualScheduler;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Hooks;

/** Threads that poll before they sleep, with windows of an hour: whether they poll does not depend on time here. */
class PollingTest {

    private static final long HOUR = 3_600_000_000_000L;
    private static final long PATIENCE = 10; // seconds

    /** Starts a worker, and offers it tasks until it takes one. */
    private static PollingWorker polling(long pollNanos) throws InterruptedException {
        PollingWorker worker = new PollingWorker(pollNanos);
        worker.start();
        take(worker, () -> {});
        return worker;
    }

    private static void take(PollingWorker worker, Runnable task) throws InterruptedException {
        CountDownLatch ran = new CountDownLatch(1);
        offer(worker, () -> {
            task.run();
            ran.countDown();
        });
        assertThat(ran.await(PATIENCE, SECONDS)).as("it ran").isTrue();
    }

    /** Offers a task until it is taken. */
    private static void offer(PollingWorker worker, Runnable task) throws InterruptedException {
        long start = System.nanoTime();
        while (!worker.offer(task)) {
            assertThat(System.nanoTime() - start).as("a worker takes a task").isLessThan(SECONDS.toNanos(PATIENCE));
            Thread.sleep(1);
        }
    }

    private static void end(PollingWorker worker) throws InterruptedException {
        worker.end();
        worker.join(SECONDS.toMillis(PATIENCE));
        assertThat(worker.isAlive()).isFalse();
    }

    private static void awaitSleep(PollingWorker worker) throws InterruptedException {
        while (worker.getState() != Thread.State.WAITING) {
            Thread.sleep(1);
        }
    }

    @Test
    void aWorkerThatPollsTakesEachTask() throws InterruptedException {
        PollingWorker worker = polling(HOUR);
        AtomicReference<Thread> ranOn = new AtomicReference<>();
        for (int i = 0; i < 20; i++) {
            take(worker, () -> ranOn.set(Thread.currentThread()));
            assertThat(ranOn).hasValue(worker);
        }
        end(worker);
    }

    @Test
    void aWorkerOutlivesAnErrorThatReactorCountsAsFatal() throws InterruptedException {
        PollingWorker worker = polling(HOUR);
        offer(worker, () -> {
            throw new UnsatisfiedLinkError("kernel");
        });
        take(worker, () -> {});
        end(worker);
    }

    @Test
    void aWorkerWithATaskTakesNoOther() throws InterruptedException {
        PollingWorker worker = polling(HOUR);
        CountDownLatch release = new CountDownLatch(1);
        CountDownLatch running = new CountDownLatch(1);
        offer(worker, () -> {
            running.countDown();
            awaitQuietly(release);
        });
        running.await();
        assertThat(worker.offer(() -> {})).isFalse();
        release.countDown();
        take(worker, () -> {});
        end(worker);
    }

    private static void awaitQuietly(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    @Test
    void aWorkerThatGetsNothingSleepsAndIsNotWokenByARareOffer() throws InterruptedException {
        PollingWorker worker = new PollingWorker(50_000_000);
        worker.start();
        awaitSleep(worker);
        for (int i = 0; i < 3; i++) {
            Thread.sleep(100); // longer than it polls
            assertThat(worker.offer(() -> {})).isFalse();
            Thread.sleep(10); // shorter
            assertThat(worker.getState()).isEqualTo(Thread.State.WAITING);
        }
        end(worker);
    }

    @Test
    void twoOffersSoonAfterEachOtherWakeIt() throws InterruptedException {
        PollingWorker worker = polling(300_000_000L);
        awaitSleep(worker);
        take(worker, () -> {}); // wakes it, if this thread makes two offers within 300 ms once
        end(worker);
    }

    @Test
    void anErrorOfATaskDoesNotEndIt() throws InterruptedException {
        PollingWorker worker = polling(HOUR);
        AtomicReference<Throwable> dropped = new AtomicReference<>();
        Hooks.onErrorDropped(dropped::set);
        try {
            IllegalStateException thrown = new IllegalStateException("from a subscriber");
            offer(worker, () -> {
                throw thrown;
            });
            take(worker, () -> {});
            assertThat(dropped).hasValue(thrown);
        } finally {
            Hooks.resetOnErrorDropped();
        }
        end(worker);
    }

    @Test
    void aWorkerForWhichThereIsNoThreadRefusesTasks() {
        PollingWorker worker = new PollingWorker(HOUR);
        for (int i = 0; i < 3; i++) {
            assertThat(worker.offer(() -> {})).isFalse();
        }
        worker.end();
        assertThat(worker.offer(() -> {})).isFalse();
    }

    @Test
    void anEndedWorkerRefusesTasks() throws InterruptedException {
        PollingWorker polls = polling(HOUR);
        PollingWorker sleeps = new PollingWorker(1);
        sleeps.start();
        awaitSleep(sleeps);
        for (PollingWorker worker : List.of(polls, sleeps)) {
            end(worker);
            assertThat(worker.offer(() -> {})).isFalse();
        }
    }

    @Test
    void whatTheWorkerRefusesRunsOnTheOtherScheduler() throws InterruptedException {
        PollingWorker worker = new PollingWorker(HOUR); // not started: takes nothing
        ManualScheduler others = new ManualScheduler();
        PollingScheduler scheduler = new PollingScheduler(worker, others);
        AtomicInteger runs = new AtomicInteger();
        scheduler.schedule(runs::incrementAndGet);
        scheduler.createWorker().schedule(runs::incrementAndGet);
        assertThat(runs).hasValue(0);
        others.run();
        assertThat(runs).hasValue(2);
    }

    private static IoQueue start(FakeQueue queue, PollWindow window) {
        IoQueue ioQueue = new IoQueue(queue, QueueLimits.ofBytes(1 << 20), System::nanoTime);
        new IoThread(ioQueue, null, "polling", window).start();
        return ioQueue;
    }

    private static void post(IoQueue ioQueue) throws InterruptedException {
        CountDownLatch taken = new CountDownLatch(1);
        ioQueue.post(taken::countDown);
        taken.await();
    }

    /** Arrivals at every place of the thread's loop: between two looks of it, too. */
    @Test
    @SuppressWarnings("ThreadPriorityCheck") // it yields to be faster; the result does not depend on it
    void anIoThreadThatPollsTakesArrivalsWithoutAWait() throws InterruptedException {
        FakeQueue queue = new FakeQueue();
        AtomicInteger waits = new AtomicInteger();
        queue.beforeWait = waits::incrementAndGet;
        IoQueue ioQueue = start(queue, new PollWindow(HOUR, HOUR));
        for (int i = 0; i < 2000; i++) {
            int before = queue.turns.get();
            ioQueue.post(() -> {});
            while (queue.turns.get() == before) {
                Thread.yield(); // else the turn that takes this message may take the next ones, and be one of many
            }
        }
        ioQueue.stop();
        assertThat(waits).hasValue(0);
    }

    @Test
    void anIoThreadWhoseWindowIsClosedWaits() throws InterruptedException {
        FakeQueue queue = new FakeQueue();
        AtomicInteger waits = new AtomicInteger();
        queue.beforeWait = waits::incrementAndGet;
        IoQueue ioQueue = start(queue, new PollWindow(0, 0));
        for (int i = 0; i < 3; i++) {
            int before = waits.get();
            post(ioQueue);
            while (waits.get() == before) {
                Thread.sleep(1); // the time limit of tests interrupts it
            }
        }
        ioQueue.stop();
    }
}
