// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.spi.ssg;

import io.penstock.engine.spi.staging.Doorbell;
import java.io.IOException;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;

/**
 * What other threads do for the commands of a queue: calls that block run on Reactor's bounded elastic threads, and each
 * command comes back with what that has come to.
 *
 * <p><b>Threading:</b> any thread sends commands out, the lane takes them back. In between a command is the other thread's;
 * the queue of returned commands orders the two.
 *
 * @param <C> the commands of the queue
 */
final class SsgOffload<C extends SsgCommand> {

    /** A call that may block. */
    @FunctionalInterface
    interface Call {

        /**
         * Does something for a command, which may record what that has come to.
         *
         * @throws IOException with the native answer, which fails the command
         */
        void run() throws IOException;
    }

    private final ConcurrentLinkedQueue<C> returned = new ConcurrentLinkedQueue<>();
    private final Doorbell doorbell;
    private final Supplier<Scheduler> scheduler;

    /** Makes that of a lane which {@code doorbell} wakes. */
    SsgOffload(Doorbell doorbell) {
        this(doorbell, Schedulers::boundedElastic);
    }

    SsgOffload(Doorbell doorbell, Supplier<Scheduler> scheduler) {
        this.doorbell = doorbell;
        this.scheduler = scheduler;
    }

    /** Sends a command out. */
    void run(C command, Call call) {
        schedule(() -> {
            perform(command, call);
            giveBack(command);
        });
    }

    /** Sends a command out, for a call that blocks and, unless that fails, another one on {@code thread}. */
    void run(C command, Call call, Executor thread, Call next) {
        schedule(() -> {
            if (perform(command, call)) {
                thread.execute(() -> {
                    perform(command, next);
                    giveBack(command);
                });
            } else {
                giveBack(command);
            }
        });
    }

    private void schedule(Runnable run) {
        try {
            scheduler.get().schedule(run);
        } catch (RejectedExecutionException shutDown) {
            run.run(); // the application has shut the scheduler down: better on the wrong thread than never
        }
    }

    private boolean perform(C command, Call call) {
        try {
            call.run();
            return true;
        } catch (IOException | RuntimeException e) {
            command.fails(e);
            return false;
        }
    }

    /** Hands a command, which another thread has worked on, to the lane. */
    void giveBack(C command) {
        returned.add(command);
        doorbell.ring();
    }

    /** Takes a command back; null if none has come. */
    @Nullable
    C poll() {
        return returned.poll();
    }
}
