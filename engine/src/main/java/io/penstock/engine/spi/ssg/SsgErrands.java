// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.spi.ssg;

import io.penstock.engine.spi.staging.Doorbell;
import java.io.IOException;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;

/**
 * What a queue has other threads do for its commands: calls that block run on threads of Reactor's, and each command comes
 * back with what that has come to.
 *
 * <p><b>Threading:</b> any thread sends commands out, the lane's takes them back. In between a command is the other
 * thread's, in an order that the queue of returned ones makes.
 *
 * @param <C> the commands of the queue
 */
public final class SsgErrands<C extends SsgCommand<?>> {

    /** What may block. */
    @FunctionalInterface
    public interface Errand {

        /**
         * Does something for a command, which may say what that has come to.
         *
         * @throws IOException with the native answer, of which the command has failed then
         */
        void run() throws IOException;
    }

    private final ConcurrentLinkedQueue<C> returned = new ConcurrentLinkedQueue<>();
    private final Doorbell doorbell;
    private final Supplier<Scheduler> scheduler;

    /** Makes those of a lane that {@code doorbell} wakes. */
    public SsgErrands(Doorbell doorbell) {
        this(doorbell, Schedulers::boundedElastic);
    }

    SsgErrands(Doorbell doorbell, Supplier<Scheduler> scheduler) {
        this.doorbell = doorbell;
        this.scheduler = scheduler;
    }

    /** Sends a command out. */
    public void run(C command, Errand errand) {
        Runnable run = () -> {
            try {
                errand.run();
            } catch (IOException | RuntimeException e) {
                command.fails(e);
            }
            giveBack(command);
        };
        try {
            scheduler.get().schedule(run);
        } catch (RejectedExecutionException shutDown) {
            run.run(); // the application has shut the scheduler down: better on the wrong thread than never
        }
    }

    /** Hands a command, which another thread has worked on, to the lane. */
    public void giveBack(C command) {
        returned.add(command);
        doorbell.ring();
    }

    /** Takes a command back; null if none has come. */
    public @Nullable C poll() {
        return returned.poll();
    }
}
