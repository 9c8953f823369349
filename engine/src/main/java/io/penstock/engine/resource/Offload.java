// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.resource;

import io.penstock.engine.kit.DaemonThread;
import java.util.concurrent.Callable;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import reactor.core.publisher.Mono;
import reactor.core.publisher.MonoSink;
import reactor.core.publisher.Operators;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;
import reactor.util.context.Context;

/**
 * Runs calls that may block (truncate, close) off the I/O queues' and subscribers' threads. Calls that open a resource
 * run there too, but through a publisher that closes resources which were not delivered.
 */
public final class Offload {

    private static final int MOST_REMOTE = 256;
    static final int KEEP_SECONDS = 10;

    private Offload() {}

    /** Created at its first use. */
    private static final class Remote {
        static final Scheduler SCHEDULER =
                threads(MOST_REMOTE, Schedulers.DEFAULT_BOUNDED_ELASTIC_QUEUESIZE, "penstock-remote", KEEP_SECONDS);
    }

    /**
     * Returns new daemon threads, which nothing shuts down. Not by {@code Schedulers}, which asks the factory that is
     * set at the moment: one of a test with virtual time gives a scheduler that runs nothing once the test has ended.
     */
    static Scheduler threads(int most, int queued, String name, int keepSeconds) {
        AtomicInteger count = new AtomicInteger();
        Scheduler threads = new Schedulers.Factory() {}.newBoundedElastic(
                most, queued, task -> new DaemonThread(name + "-" + count.incrementAndGet(), task), keepSeconds);
        threads.init();
        return threads;
    }

    /**
     * Returns the threads for calls that may block: calls that wait for other hosts have their own threads, since a few
     * of them, to a host that is silent, would hold up all calls of this one.
     */
    public static Scheduler scheduler(boolean isRemote) {
        return isRemote ? Remote.SCHEDULER : Schedulers.boundedElastic();
    }

    /**
     * Completes when {@code call} has returned. A cancel prevents a call that has not begun, and interrupts none: an
     * interruption closes a file channel for all its users.
     */
    static Mono<Void> run(Owner owner, Executor threads, Callable<?> call) {
        Mono<Void> done = Mono.create(sink -> {
            AtomicBoolean cancelled = new AtomicBoolean();
            sink.onCancel(() -> cancelled.set(true));
            try {
                threads.execute(() -> {
                    if (!cancelled.get()) {
                        call(call, sink);
                    }
                });
            } catch (RejectedExecutionException e) {
                sink.error(Operators.onRejectedExecution(e, Context.of(sink.contextView())));
            }
        });
        return owner.deliver(done);
    }

    private static void call(Callable<?> call, MonoSink<Void> sink) {
        try {
            call.call();
            sink.success();
        } catch (Throwable e) {
            sink.error(e); // also what Reactor counts as fatal: a vendor's library that lacks a function
        }
    }

    /** Runs a call that may block: by {@code threads}, if the calling thread must not block. */
    static void blocking(Executor threads, Runnable call) {
        if (Schedulers.isInNonBlockingThread()) {
            try {
                threads.execute(call);
                return;
            } catch (RejectedExecutionException e) {
                // The application has shut down the scheduler: on the wrong thread is better than never.
            }
        }
        call.run();
    }
}
