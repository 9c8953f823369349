// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine;

import java.util.ArrayDeque;
import java.util.concurrent.RejectedExecutionException;
import reactor.core.Disposable;
import reactor.core.Disposables;
import reactor.core.scheduler.Scheduler;

/** Runs tasks on the test's thread, when the test calls it. */
public final class ManualScheduler implements Scheduler {

    private final ArrayDeque<Task> tasks = new ArrayDeque<>();
    private boolean disposed;
    public int scheduled;
    public int workers;

    private record Task(Runnable run, Disposable token) {}

    /** Runs what is scheduled until there is nothing more. */
    public void run() {
        for (Task task = tasks.poll(); task != null; task = tasks.poll()) {
            if (!task.token.isDisposed()) {
                task.run.run();
            }
        }
    }

    public int pending() {
        return tasks.size();
    }

    @Override
    public Disposable schedule(Runnable task) {
        if (disposed) {
            throw new RejectedExecutionException("shut down by the test");
        }
        scheduled++;
        Disposable token = Disposables.single();
        tasks.add(new Task(task, token));
        return token;
    }

    @Override
    public Worker createWorker() {
        workers++;
        return new Worker() {
            private boolean over;

            @Override
            public Disposable schedule(Runnable task) {
                if (over) {
                    throw new RejectedExecutionException("this worker is disposed");
                }
                return ManualScheduler.this.schedule(task);
            }

            @Override
            public void dispose() {
                workers -= over ? 0 : 1;
                over = true;
            }

            @Override
            public boolean isDisposed() {
                return over;
            }
        };
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
