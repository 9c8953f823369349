// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine;

import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import reactor.core.Disposable;
import reactor.core.scheduler.Scheduler;

/**
 * One of Reactor's shared schedulers, looked up at each use: a test with virtual time, or an application, replaces and
 * shuts down all of them while a backend is open.
 */
record CurrentScheduler(Supplier<Scheduler> current) implements Scheduler {

    @Override
    public Disposable schedule(Runnable task) {
        return current.get().schedule(task);
    }

    @Override
    public Disposable schedule(Runnable task, long delay, TimeUnit unit) {
        return current.get().schedule(task, delay, unit);
    }

    @Override
    public Disposable schedulePeriodically(Runnable task, long delay, long period, TimeUnit unit) {
        return current.get().schedulePeriodically(task, delay, period, unit);
    }

    @Override
    public Worker createWorker() {
        return current.get().createWorker();
    }

    @Override
    public long now(TimeUnit unit) {
        return current.get().now(unit);
    }
}
