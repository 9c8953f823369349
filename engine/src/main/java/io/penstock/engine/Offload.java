// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine;

import java.util.concurrent.Callable;
import java.util.concurrent.RejectedExecutionException;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/** Runs calls that may block (truncate, close) off lanes and subscribers; those that open something: {@link MonoOpen}. */
final class Offload {

    private Offload() {}

    /** Completes when {@code call} has returned. */
    static Mono<Void> run(Port port, Callable<?> call) {
        Mono<Void> done = Mono.fromCallable(call).then().subscribeOn(Schedulers.boundedElastic());
        return port.isDirectDelivery() ? done : done.publishOn(port.scheduler());
    }

    /** Runs what may block: elsewhere, if the calling thread must not. */
    static void blocking(Runnable call) {
        if (Schedulers.isInNonBlockingThread()) {
            try {
                Schedulers.boundedElastic().schedule(call);
                return;
            } catch (RejectedExecutionException e) {
                // The application has shut the scheduler down: better on the wrong thread than never.
            }
        }
        call.run();
    }
}
