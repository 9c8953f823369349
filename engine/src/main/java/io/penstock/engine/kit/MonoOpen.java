// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.kit;

import io.penstock.handover.HandoverSubscription;
import java.util.concurrent.Callable;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import org.jspecify.annotations.Nullable;
import reactor.core.CoreSubscriber;
import reactor.core.Disposable;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Operators;
import reactor.core.scheduler.Scheduler;

/**
 * Opens a closeable resource by a call that may block, on a thread that may block.
 *
 * <p><b>Cancellation:</b> a call that has not begun is not made; a resource that is returned after the cancel is
 * closed.
 */
public final class MonoOpen<T extends AutoCloseable> extends Mono<T> {

    private final Executor threads;
    private final Scheduler delivery;
    private final Callable<? extends T> call;
    private final @Nullable Scheduler interrupted;

    /**
     * Creates a publisher whose cancel interrupts no call: an interruption closes a file channel for all its users.
     *
     * @param threads run the call
     * @param delivery delivers the resource, or the failure; {@code Schedulers.immediate()} for the call's thread
     */
    public MonoOpen(Executor threads, Scheduler delivery, Callable<? extends T> call) {
        this(threads, delivery, call, null);
    }

    private MonoOpen(
            Executor threads, Scheduler delivery, Callable<? extends T> call, @Nullable Scheduler interrupted) {
        this.threads = threads;
        this.delivery = delivery;
        this.call = call;
        this.interrupted = interrupted;
    }

    /** Opens by a call that may wait for another host, and that an interrupt ends: a cancel interrupts it. */
    public static <T extends AutoCloseable> MonoOpen<T> interruptible(
            Scheduler threads, Scheduler delivery, Callable<? extends T> call) {
        return new MonoOpen<>(threads::schedule, delivery, call, threads);
    }

    @Override
    public void subscribe(CoreSubscriber<? super T> actual) {
        Opening<T> opening = new Opening<>(call, actual, delivery, interrupted != null);
        actual.onSubscribe(opening);
        if (opening.isGivenUp()) {
            return;
        }
        try {
            if (interrupted == null) {
                threads.execute(opening::open);
            } else {
                opening.begun(interrupted.schedule(opening::open));
            }
        } catch (RejectedExecutionException e) {
            opening.fail(Operators.onRejectedExecution(e, actual.currentContext()));
        }
    }

    private static final class Opening<T extends AutoCloseable> extends HandoverSubscription<T> {

        private final Callable<? extends T> call;
        private final boolean isInterruptible;
        private volatile @Nullable Disposable task; // if it is to be interrupted; begun() and stop() meet there

        Opening(
                Callable<? extends T> call,
                CoreSubscriber<? super T> actual,
                Scheduler delivery,
                boolean isInterruptible) {
            super(actual, delivery);
            this.call = call;
            this.isInterruptible = isInterruptible;
        }

        private void begun(Disposable scheduled) {
            task = scheduled;
            if (isGivenUp()) {
                scheduled.dispose();
            }
        }

        private void open() {
            if (isGivenUp()) {
                return;
            }
            T opened;
            try {
                opened = call.call();
            } catch (Throwable e) { // also what Reactor counts as fatal: a vendor's library that lacks a function
                if (!isInterruptible || !isGivenUp()) { // else it may be the interrupt's
                    fail(e);
                }
                return;
            }
            succeed(opened);
        }

        @Override
        protected void stop() {
            Disposable scheduled = task;
            if (scheduled != null) {
                scheduled.dispose();
            }
        }
    }
}
