// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.simulation;

import java.util.ArrayDeque;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import reactor.core.Disposable;
import reactor.core.Exceptions;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;

/** All of Reactor's schedulers at once: tasks run in the {@link World}, and the tasks of a worker in order. */
final class SimulatedScheduler implements Scheduler, Schedulers.Factory {

    private @Nullable World world;

    /** Takes the place of Reactor's own schedulers until {@link Schedulers#resetFactory}. */
    static SimulatedScheduler install() {
        SimulatedScheduler scheduler = new SimulatedScheduler();
        Schedulers.setFactory(scheduler);
        return scheduler;
    }

    void in(@Nullable World world) {
        this.world = world;
    }

    @Override
    public Scheduler newParallel(int parallelism, ThreadFactory threads) {
        return this;
    }

    @Override
    public Scheduler newBoundedElastic(int threads, int queued, ThreadFactory factory, int ttlSeconds) {
        return this;
    }

    @Override
    public Scheduler newSingle(ThreadFactory threads) {
        return this;
    }

    @Override
    public void dispose() {}

    @Override
    public Disposable schedule(Runnable task) {
        World current = world;
        boolean waits = current != null && current.chance.oneIn(2); // for a thread, or in a system call
        return schedule(task, current != null && waits ? current.chance.below(3000) : 0, TimeUnit.NANOSECONDS);
    }

    @Override
    public Disposable schedule(Runnable task, long delay, TimeUnit unit) {
        Task scheduled = new Task(task);
        later(unit.toNanos(delay), scheduled::run);
        return scheduled;
    }

    @Override
    public Worker createWorker() {
        return new FirstInFirstOut();
    }

    private void later(long nanos, Runnable action) {
        World current = world;
        if (current == null) {
            throw Exceptions.failWithRejected();
        }
        current.later(nanos, action);
    }

    private static final class Task implements Disposable {
        private final Runnable action;
        private boolean disposed;

        Task(Runnable action) {
            this.action = action;
        }

        void run() {
            if (!disposed) {
                disposed = true;
                action.run();
            }
        }

        @Override
        public void dispose() {
            disposed = true;
        }

        @Override
        public boolean isDisposed() {
            return disposed;
        }
    }

    private final class FirstInFirstOut implements Worker {
        private final ArrayDeque<Task> tasks = new ArrayDeque<>();
        private boolean disposed;

        @Override
        public Disposable schedule(Runnable task) {
            if (disposed) {
                throw Exceptions.failWithRejected();
            }
            Task scheduled = new Task(task);
            tasks.add(scheduled);
            if (tasks.size() == 1) {
                later(0, this::next);
            }
            return scheduled;
        }

        @Override
        public Disposable schedule(Runnable task, long delay, TimeUnit unit) {
            Task scheduled = new Task(task);
            later(unit.toNanos(delay), scheduled::run);
            return scheduled;
        }

        private void next() {
            Task first = tasks.peek();
            if (first != null) {
                try {
                    first.run();
                } finally {
                    tasks.poll();
                    if (!tasks.isEmpty()) {
                        later(0, this::next);
                    }
                }
            }
        }

        @Override
        public void dispose() {
            disposed = true;
            tasks.forEach(Task::dispose);
        }

        @Override
        public boolean isDisposed() {
            return disposed;
        }
    }
}
