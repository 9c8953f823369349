// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.resource;

import io.penstock.engine.publisher.MonoOpen;
import java.util.concurrent.Callable;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicBoolean;
import reactor.core.Exceptions;
import reactor.core.publisher.Mono;
import reactor.core.publisher.MonoSink;
import reactor.core.publisher.Operators;
import reactor.core.scheduler.Schedulers;
import reactor.util.context.Context;

/**
 * Runs calls that may block (truncate, close) off the I/O queues' and subscribers' threads. For calls that open a
 * resource, see {@link MonoOpen}.
 */
public final class Offload {

    private Offload() {}

    /**
     * Completes when {@code call} has returned. A cancel prevents a call that has not begun, and interrupts none: an
     * interruption closes a file channel for all its users.
     */
    static Mono<Void> run(Owner owner, Callable<?> call) {
        Mono<Void> done = Mono.create(sink -> {
            AtomicBoolean cancelled = new AtomicBoolean();
            sink.onCancel(() -> cancelled.set(true));
            try {
                Schedulers.boundedElastic().schedule(() -> {
                    if (!cancelled.get()) {
                        call(call, sink);
                    }
                });
            } catch (RejectedExecutionException e) {
                sink.error(Operators.onRejectedExecution(e, Context.of(sink.contextView())));
            }
        });
        return owner.isDirectDelivery() ? done : done.publishOn(owner.scheduler());
    }

    private static void call(Callable<?> call, MonoSink<Void> sink) {
        try {
            call.call();
            sink.success();
        } catch (Throwable e) {
            Exceptions.throwIfJvmFatal(e);
            sink.error(e);
        }
    }

    /** Runs a call that may block: on another thread, if the calling thread must not block. */
    public static void blocking(Runnable call) {
        if (Schedulers.isInNonBlockingThread()) {
            try {
                Schedulers.boundedElastic().schedule(call);
                return;
            } catch (RejectedExecutionException e) {
                // The application has shut down the scheduler: on the wrong thread is better than never.
            }
        }
        call.run();
    }
}
