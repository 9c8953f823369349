// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.kit.ssg;

import io.penstock.engine.spi.Wakeup;
import java.io.IOException;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;

/**
 * Offloads blocking calls for the commands of a queue to Reactor's bounded elastic threads; each command returns with
 * the result.
 *
 * <p><b>Threading:</b> any thread offloads commands, the I/O queue takes them back. In between the other thread owns
 * the command; the queue of returned commands orders the two.
 *
 * @param <C> the commands of the queue
 */
final class SsgOffload<C extends SsgCommand> {

    /** A call that may block. */
    @FunctionalInterface
    interface Call {

        /**
         * Makes a call for a command, and may record the result in it.
         *
         * @throws IOException with the native error, which fails the command
         */
        void run() throws IOException;
    }

    private final ConcurrentLinkedQueue<C> returned = new ConcurrentLinkedQueue<>();
    private final Wakeup wakeup;
    private final Supplier<Scheduler> scheduler;

    /** Creates the offload of an I/O queue, which {@code wakeup} wakes. */
    SsgOffload(Wakeup wakeup) {
        this(wakeup, Schedulers::boundedElastic);
    }

    SsgOffload(Wakeup wakeup, Supplier<Scheduler> scheduler) {
        this.wakeup = wakeup;
        this.scheduler = scheduler;
    }

    /** Offloads a command. */
    void run(C command, Call call) {
        schedule(() -> {
            perform(command, call);
            giveBack(command);
        });
    }

    /** Offloads a command for a blocking call and, unless that fails, another call on {@code thread}. */
    void run(C command, Call call, Executor thread, Call next) {
        schedule(() -> {
            boolean handedOver = perform(command, call)
                    && perform(
                            command,
                            () -> thread.execute(() -> {
                                perform(command, next);
                                giveBack(command);
                            }));
            if (!handedOver) {
                giveBack(command);
            }
        });
    }

    private void schedule(Runnable run) {
        try {
            scheduler.get().schedule(run);
        } catch (RejectedExecutionException shutDown) {
            run.run(); // the application has shut down the scheduler: better on the wrong thread than never
        }
    }

    private boolean perform(C command, Call call) {
        try {
            call.run();
            return true;
        } catch (IOException | RuntimeException | Error e) { // also where a driver lacks a function
            command.fails(e);
            return false;
        }
    }

    /** Returns a command from another thread to the I/O queue. */
    void giveBack(C command) {
        returned.add(command);
        wakeup.wake();
    }

    /** Takes a returned command; null if there is none. */
    @Nullable
    C poll() {
        return returned.poll();
    }
}
