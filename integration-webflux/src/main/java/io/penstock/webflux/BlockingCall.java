// SPDX-License-Identifier: Apache-2.0
package io.penstock.webflux;

import java.util.concurrent.Callable;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Signal;
import reactor.core.scheduler.Schedulers;

/** A call that blocks on a file system, on a thread that may. */
final class BlockingCall {

    private BlockingCall() {}

    /**
     * Emits the result; nothing if it is null. A cancel interrupts the call. What that makes it throw is the cancel's own
     * doing, and not reported to anybody: errors travel as values, which are not dropped with a message.
     */
    static <T> Mono<T> of(Callable<T> call) {
        return Mono.fromCallable(() -> signal(call))
                .subscribeOn(Schedulers.boundedElastic())
                .dematerialize();
    }

    private static <T> Signal<T> signal(Callable<T> call) {
        try {
            T result = call.call();
            return result == null ? Signal.complete() : Signal.next(result);
        } catch (Throwable e) { // also what Reactor counts as fatal, and would not signal
            return Signal.error(e);
        }
    }
}
