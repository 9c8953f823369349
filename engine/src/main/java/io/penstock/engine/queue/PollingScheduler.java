// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.queue;

import java.util.concurrent.TimeUnit;
import reactor.core.Disposable;
import reactor.core.scheduler.Scheduler;

/**
 * A scheduler that offers its tasks to a {@link PollingWorker}, and gives those that it refuses to another scheduler.
 *
 * <p>A worker of it does not order its tasks, and a task that was taken cannot be disposed of: it is for operators that
 * have one task at a time, and whose tasks check for a cancel.
 *
 * @param others runs what is not taken, and what is to run later
 */
public record PollingScheduler(PollingWorker polling, Scheduler others) implements Scheduler {

    private static final Disposable TAKEN = () -> {};

    /** Returns a scheduler over a worker that polls for {@code pollNanos}; {@link #release} it once. */
    public static PollingScheduler acquire(long pollNanos, Scheduler others) {
        return new PollingScheduler(PollingWorker.acquire(pollNanos), others);
    }

    /** Releases the polling worker; later tasks run on the other scheduler. */
    public void release() {
        polling.release();
    }

    @Override
    public Disposable schedule(Runnable task) {
        return polling.offer(task) ? TAKEN : others.schedule(task);
    }

    @Override
    public Disposable schedule(Runnable task, long delay, TimeUnit unit) {
        return others.schedule(task, delay, unit);
    }

    @Override
    public Disposable schedulePeriodically(Runnable task, long initialDelay, long period, TimeUnit unit) {
        return others.schedulePeriodically(task, initialDelay, period, unit);
    }

    @Override
    public Scheduler.Worker createWorker() {
        return new Worker(polling, others.createWorker());
    }

    private record Worker(PollingWorker polling, Scheduler.Worker others) implements Scheduler.Worker {

        @Override
        public Disposable schedule(Runnable task) {
            return polling.offer(task) ? TAKEN : others.schedule(task);
        }

        @Override
        public void dispose() {
            others.dispose();
        }

        @Override
        public boolean isDisposed() {
            return others.isDisposed();
        }
    }
}
