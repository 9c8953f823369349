// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine;

import java.time.Duration;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.Disposable;
import reactor.core.Disposables;
import reactor.core.scheduler.Scheduler;

/**
 * With {@code penstock.debug}: warns of callbacks of the application that block a delivery thread, with where they are.
 *
 * @param delivery the scheduler that runs the tasks; it is shared, and not disposed of here
 * @param watch runs what looks after a task; not parallel(), whose next worker may be the thread that is watched
 */
record WatchedScheduler(Scheduler delivery, Scheduler watch) implements Scheduler {

    static final Duration PATIENCE = Duration.ofMillis(200);

    private static final Logger LOG = LoggerFactory.getLogger(WatchedScheduler.class);

    @Override
    public Disposable schedule(Runnable task) {
        return delivery.schedule(watched(task));
    }

    @Override
    public Disposable schedule(Runnable task, long delay, TimeUnit unit) {
        return delivery.schedule(watched(task), delay, unit);
    }

    @Override
    public Disposable schedulePeriodically(Runnable task, long delay, long period, TimeUnit unit) {
        return delivery.schedulePeriodically(watched(task), delay, period, unit);
    }

    @Override
    public Worker createWorker() {
        return new WatchedWorker(delivery.createWorker(), this);
    }

    @Override
    public long now(TimeUnit unit) {
        return delivery.now(unit);
    }

    private record WatchedWorker(Worker worker, WatchedScheduler owner) implements Worker {

        @Override
        public Disposable schedule(Runnable task) {
            return worker.schedule(owner.watched(task));
        }

        @Override
        public Disposable schedule(Runnable task, long delay, TimeUnit unit) {
            return worker.schedule(owner.watched(task), delay, unit);
        }

        @Override
        public void dispose() {
            worker.dispose();
        }

        @Override
        public boolean isDisposed() {
            return worker.isDisposed();
        }
    }

    private Runnable watched(Runnable task) {
        return () -> {
            Thread thread = Thread.currentThread();
            AtomicBoolean over = new AtomicBoolean(); // of the two that come last, the first
            Disposable late = later(() -> {
                if (over.compareAndSet(false, true)) {
                    warn(thread);
                }
            });
            try {
                task.run();
            } finally {
                if (over.compareAndSet(false, true)) { // else a dispose would interrupt the logger
                    late.dispose();
                }
            }
        };
    }

    private Disposable later(Runnable warning) {
        try {
            return watch.schedule(warning, PATIENCE.toMillis(), TimeUnit.MILLISECONDS);
        } catch (RejectedExecutionException e) { // it is shut down: what is delivered matters more
            return Disposables.disposed();
        }
    }

    private static void warn(Thread thread) {
        Throwable place = new Throwable("what " + thread.getName() + " does");
        place.setStackTrace(thread.getStackTrace());
        LOG.warn(
                "a callback has kept {} for {} ms, and the signals that are to be delivered behind it: it must not block;"
                        + " penstock.delivery=elastic permits it",
                thread.getName(),
                PATIENCE.toMillis(),
                place);
    }
}
