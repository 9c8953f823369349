// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.kit.ssg;

import io.penstock.engine.kit.ElasticCalls;
import io.penstock.engine.spi.Wakeup;
import java.io.IOException;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;

/**
 * Offloads blocking calls for the commands of a queue to {@link ElasticCalls}; each command returns with the result.
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
    private final Executor elastic;

    /** Creates the offload of an I/O queue, which {@code wakeup} wakes. */
    SsgOffload(Wakeup wakeup) {
        this(wakeup, ElasticCalls::run);
    }

    SsgOffload(Wakeup wakeup, Executor elastic) {
        this.wakeup = wakeup;
        this.elastic = elastic;
    }

    /** Offloads a command. */
    void run(C command, Call call) {
        elastic.execute(() -> {
            perform(command, call);
            giveBack(command);
        });
    }

    /** Offloads a command for a blocking call and, unless that fails, another call on {@code thread}. */
    void run(C command, Call call, Executor thread, Call next) {
        elastic.execute(() -> {
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
