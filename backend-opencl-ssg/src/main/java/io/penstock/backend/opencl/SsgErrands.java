// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.opencl;

import io.penstock.engine.ssg.SsgResults;
import io.penstock.engine.staging.Doorbell;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.RejectedExecutionException;
import org.jspecify.annotations.Nullable;
import reactor.core.scheduler.Schedulers;

/**
 * The calls of a queue's that block, each for one of its tasks: they run on threads of Reactor's, and the task comes back
 * with the result.
 *
 * <p><b>Threading:</b> the lane's thread sends tasks out and takes them back; in between a task is the other thread's, in
 * an order that the queue of returned ones makes.
 */
final class SsgErrands {

    /** What may block. */
    @FunctionalInterface
    interface Errand {

        /** Returns the result of the task, negative if it failed; may throw. */
        long run();
    }

    private final ConcurrentLinkedQueue<SsgTask> returned = new ConcurrentLinkedQueue<>();
    private final Doorbell doorbell;

    /** Makes those of a lane that {@code doorbell} wakes. */
    SsgErrands(Doorbell doorbell) {
        this.doorbell = doorbell;
    }

    /** Sends a task out. */
    void run(SsgTask task, Errand call) {
        Runnable run = () -> {
            try {
                task.result = call.run();
            } catch (RuntimeException e) {
                task.result = SsgResults.ofHost(e);
            }
            returned.add(task);
            doorbell.ring();
        };
        try {
            Schedulers.boundedElastic().schedule(run);
        } catch (RejectedExecutionException shutDown) {
            run.run(); // the application has shut the scheduler down: better on the wrong thread than never
        }
    }

    /** Takes a task back; null if none has come. */
    @Nullable
    SsgTask poll() {
        return returned.poll();
    }
}
