// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.queue;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;

/** On which thread an operator has its turns. */
class DeliveryLoopTest {

    private final BlockingQueue<Thread> turns = new LinkedBlockingQueue<>();

    private final class Loop extends DeliveryLoop {

        Loop(Scheduler.@Nullable Worker worker) {
            super(worker);
        }

        @Override
        protected void turn() {
            turns.add(Thread.currentThread());
        }

        @Override
        protected void rejected(RejectedExecutionException cause) {}

        @Override
        protected void crashed(Throwable cause) {
            throw new AssertionError(cause);
        }
    }

    private @Nullable Thread next() throws InterruptedException {
        return turns.poll(60, TimeUnit.SECONDS);
    }

    @Test
    void withoutAWorkerATurnIsTheSignallersUnlessItMustBeElsewhere() throws InterruptedException {
        Loop loop = new Loop(null);
        loop.signal();
        assertThat(turns).containsExactly(Thread.currentThread());
        turns.clear();
        loop.signal(Schedulers.parallel());
        assertThat(next()).isNotNull().isNotEqualTo(Thread.currentThread());
    }

    @Test
    void whereItMustBeElsewhereItsWorkerIsAsGood() throws InterruptedException {
        Scheduler one = Schedulers.newSingle("one");
        Scheduler other = Schedulers.newSingle("other");
        try {
            new Loop(one.createWorker()).signal(other);
            assertThat(next())
                    .isNotNull()
                    .extracting(Thread::getName)
                    .asString()
                    .startsWith("one");
        } finally {
            one.dispose();
            other.dispose();
        }
    }

    @Test
    void whatIsOverRunsOnTheSignallingThread() {
        Loop loop = new Loop(null);
        loop.over();
        loop.signal(Schedulers.parallel());
        assertThat(turns).containsExactly(Thread.currentThread());
    }

    @Test
    void aSchedulerThatRejectsLeavesItToTheSignallingThread() {
        Scheduler gone = Schedulers.newSingle("gone");
        gone.dispose();
        new Loop(null).signal(gone);
        assertThat(turns).containsExactly(Thread.currentThread());
    }
}
