// SPDX-License-Identifier: Apache-2.0
package io.penstock.samples;

import io.micrometer.observation.ObservationRegistry;
import io.micrometer.observation.ObservationTextPublisher;
import io.penstock.Backend;
import io.penstock.Backends;
import io.penstock.StreamPlan;
import java.nio.file.Path;
import reactor.core.observability.micrometer.Micrometer;
import reactor.core.publisher.Mono;

/** Observes a stream by Micrometer, which makes spans and timers of observations: the stream's, and one in it per chunk. */
public final class TraceStream {

    private TraceStream() {}

    public static void main(String[] arguments) {
        ObservationRegistry registry = ObservationRegistry.create();
        registry.observationConfig().observationHandler(new ObservationTextPublisher(System.out::println));
        try (Backend backend = Backends.open()) {
            System.out.println(length(backend, Path.of(arguments[0]), registry).block() + " bytes");
        }
    }

    /** Emits the length of a file. The context leads from the subscriber to each chunk, so the trace does too. */
    static Mono<Long> length(Backend backend, Path path, ObservationRegistry registry) {
        return backend.stream(
                        StreamPlan.of(path),
                        chunk -> Mono.fromSupplier(chunk::length) // in place of the work
                                .name("chunk")
                                .tap(Micrometer.observation(registry)))
                .name("stream")
                .tag("backend", backend.name())
                .tap(Micrometer.observation(registry))
                .reduce(0L, Long::sum);
    }
}
