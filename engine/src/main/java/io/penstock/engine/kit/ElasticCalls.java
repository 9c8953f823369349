// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.kit;

import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicBoolean;
import reactor.core.scheduler.Schedulers;

/**
 * Calls that must run but may block, such as the release of a device's memory: the thread that asks for them may be an
 * I/O queue.
 */
public final class ElasticCalls {

    private ElasticCalls() {}

    /**
     * Runs a call once, on {@link Schedulers#boundedElastic()}; on a thread of its own if that rejects the call, since
     * it is shut down or its queue is full.
     *
     * <p><b>Threading:</b> does not block, unless the system permits no more threads: the call runs on the calling
     * thread then.
     */
    public static void run(Runnable call) {
        run(Schedulers.boundedElastic()::schedule, call);
    }

    /** As {@link #run(Runnable)}, on the threads of {@code threads}, which may lack one for it, or be shut down. */
    public static void run(Executor threads, Runnable call) {
        AtomicBoolean begun = new AtomicBoolean(); // a scheduler that found no thread may have kept the call
        Runnable once = () -> {
            if (begun.compareAndSet(false, true)) {
                call.run();
            }
        };
        try {
            threads.execute(once);
        } catch (RejectedExecutionException | OutOfMemoryError refused) {
            if (!new DaemonThread("penstock-release", once).tryStart()) {
                once.run();
            }
        }
    }
}
