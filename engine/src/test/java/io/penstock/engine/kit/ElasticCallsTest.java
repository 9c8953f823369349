// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.kit;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import reactor.core.Exceptions;
import reactor.core.scheduler.Schedulers;

/** Calls that must run, whatever has become of Reactor's threads. */
class ElasticCallsTest {

    private static final Duration LONG = Duration.ofSeconds(20);
    private static final String HOOK = "refuses";

    private final Thread test = Thread.currentThread();

    @AfterEach
    void reset() {
        Schedulers.resetOnScheduleHook(HOOK);
    }

    /** What this thread schedules goes through {@code fate}. */
    private void schedule(UnaryOperator<Runnable> fate) {
        Schedulers.onScheduleHook(HOOK, task -> Thread.currentThread() == test ? fate.apply(task) : task);
    }

    private static CompletableFuture<Thread> ran() {
        CompletableFuture<Thread> ran = new CompletableFuture<>();
        ElasticCalls.run(() -> ran.complete(Thread.currentThread()));
        return ran;
    }

    @Test
    void aCallRunsOnAThreadThatMayBlock() {
        assertThat(ran())
                .succeedsWithin(LONG)
                .matches(thread -> thread.getName().startsWith("boundedElastic"));
    }

    @Test
    void aCallThatIsRejectedRunsOnAThreadOfItsOwn() {
        schedule(task -> {
            throw Exceptions.failWithRejected();
        });
        assertThat(ran()).succeedsWithin(LONG).isNotSameAs(test).matches(Thread::isDaemon);
    }

    /** A {@code ThreadPoolExecutor} has the task in its queue when the thread for it cannot be started. */
    @Test
    void aCallThatWasKeptWithoutAThreadRunsOnce() {
        CompletableFuture<Runnable> kept = new CompletableFuture<>();
        schedule(task -> {
            kept.complete(task);
            throw new OutOfMemoryError("unable to create native thread");
        });
        AtomicInteger calls = new AtomicInteger();
        CompletableFuture<Void> ran = new CompletableFuture<>();
        ElasticCalls.run(() -> {
            calls.incrementAndGet();
            ran.complete(null);
        });
        assertThat(ran).succeedsWithin(LONG);
        kept.join().run();
        assertThat(calls).hasValue(1);
    }

    /** Such as a pool with a thread for each call, whose threads the system has refused or the owner has ended. */
    @Test
    void aCallThatAPoolCannotRunIsNotLost() {
        ThreadPoolExecutor pool =
                new ThreadPoolExecutor(1, 1, 1, TimeUnit.SECONDS, new ArrayBlockingQueue<>(1), unused -> {
                    throw new OutOfMemoryError("unable to create native thread");
                });
        CompletableFuture<Thread> ran = new CompletableFuture<>();
        ElasticCalls.run(pool, () -> ran.complete(Thread.currentThread()));
        assertThat(ran).succeedsWithin(LONG).matches(Thread::isDaemon);
        pool.shutdown();
        CompletableFuture<Thread> late = new CompletableFuture<>();
        ElasticCalls.run(pool, () -> late.complete(Thread.currentThread()));
        assertThat(late).succeedsWithin(LONG).matches(Thread::isDaemon);
    }
}
