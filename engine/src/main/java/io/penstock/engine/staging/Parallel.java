// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.staging;

import io.penstock.engine.kit.DaemonThread;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/** Calls that a driver makes faster from several threads; none of these outlives {@link #run}. */
final class Parallel {

    private final AtomicInteger left;
    private final Runnable call;
    private final AtomicReference<@Nullable Throwable> failure = new AtomicReference<>();

    private Parallel(int calls, Runnable call) {
        this.left = new AtomicInteger(calls);
        this.call = call;
    }

    /**
     * Makes calls, and returns when all have ended; no further one is made once one has failed. Throws what a call has
     * thrown.
     *
     * @param threads the most threads, the caller's included, which alone makes them if that is 1 or less
     */
    static void run(int calls, int threads, Runnable call) {
        Parallel parallel = new Parallel(calls, call);
        List<DaemonThread> others = new ArrayList<>();
        for (int i = 1; i < Math.min(calls, threads); i++) {
            DaemonThread thread = new DaemonThread("penstock-parallel-" + i, parallel::work);
            if (!thread.tryStart()) {
                break; // those that there are make the calls
            }
            others.add(thread);
        }
        parallel.work();
        others.forEach(DaemonThread::awaitEnd);
        parallel.rethrow();
    }

    private void work() {
        try {
            while (failure.get() == null && left.getAndDecrement() > 0) {
                call.run();
            }
        } catch (RuntimeException | Error e) {
            failure.compareAndSet(null, e);
        }
    }

    private void rethrow() {
        Throwable thrown = failure.get();
        if (thrown instanceof RuntimeException exception) {
            throw exception;
        }
        if (thrown instanceof Error error) {
            throw error;
        }
    }
}
