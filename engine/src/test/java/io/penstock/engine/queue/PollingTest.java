// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.queue;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.engine.FakeQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import reactor.core.Disposable;
import reactor.core.scheduler.NonBlocking;
import reactor.core.scheduler.Scheduler;

/** Threads that poll before they sleep, with windows of an hour: whether they poll does not depend on time here. */
class PollingTest {

    private static final long HOUR = 3_600_000_000_000L;

    /** A loop that is over at its third turn. */
    private static final class Loop extends DeliveryLoop {
        final CountDownLatch first = new CountDownLatch(1);
        final CountDownLatch second = new CountDownLatch(1);
        final CountDownLatch third = new CountDownLatch(1);

        Loop(Scheduler.Worker worker, PollWindow window) {
            super(worker, window);
        }

        @Override
        protected void turn() {
            if (first.getCount() > 0) {
                first.countDown();
            } else if (second.getCount() > 0) {
                second.countDown();
            } else {
                over();
                third.countDown();
            }
        }

        @Override
        protected void rejected(RejectedExecutionException cause) {
            throw new AssertionError(cause);
        }

        @Override
        protected void crashed(Throwable cause) {
            throw new AssertionError(cause);
        }
    }

    private static final class Delivering extends Thread implements NonBlocking {
        Delivering(Runnable task) {
            super(task);
        }
    }

    /** A worker with a new thread for each task. */
    private static final class Threads implements Scheduler.Worker {
        final AtomicInteger tasks = new AtomicInteger();
        private final boolean nonBlocking;

        Threads(boolean nonBlocking) {
            this.nonBlocking = nonBlocking;
        }

        @Override
        public Disposable schedule(Runnable task) {
            tasks.incrementAndGet();
            (nonBlocking ? new Delivering(task) : new Thread(task)).start();
            return () -> {};
        }

        @Override
        public void dispose() {
            // no thread to end
        }
    }

    @Test
    void aWorkerThatPollsIsNotWokenAgain() throws InterruptedException {
        Threads threads = new Threads(true);
        Loop loop = new Loop(threads, new PollWindow(HOUR, HOUR));
        loop.signal();
        loop.first.await();
        loop.signal();
        loop.second.await();
        loop.signal();
        loop.third.await();
        assertThat(threads.tasks).as("tasks for three turns").hasValue(1);
    }

    @Test
    void aWorkerWhoseWindowIsClosedDoesNotPoll() throws InterruptedException {
        Threads threads = new Threads(true);
        Loop loop = new Loop(threads, new PollWindow(0, 0));
        loop.signal();
        awaitEnd(threads, loop, 1);
        loop.signal();
        awaitEnd(threads, loop, 2);
    }

    @Test
    void threadsThatMayBlockDoNotPoll() throws InterruptedException {
        Threads threads = new Threads(false);
        Loop loop = new Loop(threads, new PollWindow(HOUR, HOUR));
        loop.signal();
        awaitEnd(threads, loop, 1);
        loop.signal();
        awaitEnd(threads, loop, 2);
    }

    /** The next signal schedules a task only if the last task is over. */
    private static void awaitEnd(Threads threads, Loop loop, int tasks) throws InterruptedException {
        while (!loop.isAtRest()) {
            Thread.sleep(1); // the time limit of tests interrupts it
        }
        assertThat(threads.tasks).hasValue(tasks);
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

    @Test
    void anIoThreadThatPollsTakesArrivalsWithoutAWait() throws InterruptedException {
        FakeQueue queue = new FakeQueue();
        AtomicInteger waits = new AtomicInteger();
        queue.beforeWait = waits::incrementAndGet;
        IoQueue ioQueue = start(queue, new PollWindow(HOUR, HOUR));
        for (int i = 0; i < 20; i++) {
            post(ioQueue);
            Thread.sleep(1); // else the turn that takes this message may take the next one too, and be one of many
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

    @Test
    void theCallerOfSignalHereDoesNotPoll() {
        Loop loop = new Loop(new Threads(true), new PollWindow(HOUR, HOUR));
        loop.signalHere();
        assertThat(loop.isAtRest()).isTrue();
    }
}
