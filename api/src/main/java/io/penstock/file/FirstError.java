// SPDX-License-Identifier: Apache-2.0
package io.penstock.file;

import org.reactivestreams.Publisher;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Signal;

/** Several publishers that run at a time, and the error of one. */
public final class FirstError {

    private FirstError() {}

    /**
     * Completes when all have completed; fails with the error of the first that fails, as it is, and cancels the
     * others.
     *
     * <p>{@code flatMap} would merge the errors of two threads into an exception of Reactor's own, and log the others:
     * here errors are values, of which the first is taken.
     */
    public static Mono<Void> of(Flux<? extends Publisher<?>> all, int atATime) {
        return all.flatMap(
                        one -> Flux.from(one)
                                .<Void>handle((value, sink) -> {})
                                .materialize()
                                .filter(Signal::isOnError),
                        atATime)
                .next()
                .dematerialize();
    }
}
