// SPDX-License-Identifier: Apache-2.0
package io.penstock.tck;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import reactor.core.scheduler.Schedulers;

/**
 * Steps Reactor's schedulers by hand: tasks scheduled while this is open wait until {@link #next} runs them, on the
 * calling thread, one at a time. So a test can stop a publisher between any two of its tasks.
 */
final class Steps implements AutoCloseable {

    private static final long POLL_MILLIS = 2;
    private static final String HOOK = "io.penstock.tck.steps";

    private final LinkedBlockingQueue<Runnable> waiting = new LinkedBlockingQueue<>();
    private boolean open = true; // guarded by this

    private Steps() {}

    /** Begins stepping. Only one can be open at a time. */
    static Steps begin() {
        Steps steps = new Steps();
        Schedulers.onScheduleHook(HOOK, task -> () -> steps.arrived(task));
        return steps;
    }

    /** Called when a scheduler's thread reaches a task. */
    private void arrived(Runnable task) {
        synchronized (this) {
            if (open) {
                waiting.add(task);
                return;
            }
        }
        task.run();
    }

    /** Waits for the next task and runs it, unless {@code witness} receives a terminal signal first. */
    void next(Witness<?> witness) {
        long deadline = System.nanoTime() + Bench.PATIENCE.toNanos();
        while (!witness.hasEnded()) {
            Runnable task = poll();
            if (task != null) {
                task.run();
                return;
            }
            assertThat(System.nanoTime() - deadline)
                    .as("a task on one of Reactor's schedulers, or a terminal signal")
                    .isNegative();
        }
    }

    private @Nullable Runnable poll() {
        try {
            return waiting.poll(POLL_MILLIS, TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new AssertionError("interrupted while waiting for a task", e);
        }
    }

    /** Runs the waiting tasks; later tasks run normally. */
    @Override
    public void close() {
        Schedulers.resetOnScheduleHook(HOOK);
        synchronized (this) {
            open = false;
        }
        for (Runnable task = waiting.poll(); task != null; task = waiting.poll()) {
            task.run();
        }
    }
}
