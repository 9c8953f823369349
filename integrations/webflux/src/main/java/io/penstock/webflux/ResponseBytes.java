// SPDX-License-Identifier: Apache-2.0
package io.penstock.webflux;

import java.util.concurrent.atomic.AtomicBoolean;
import org.springframework.core.io.buffer.DataBuffer;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

/**
 * The bytes of a response, and how long their file is needed. A server subscribes to them, and completes the response
 * when they have ended. Spring's connector without a server, as of a {@code WebTestClient} for a web handler or a
 * controller, completes it at once, and its client subscribes later, or never.
 */
final class ResponseBytes {

    // By the first subscription to the bytes, or by over() if that comes first.
    private final AtomicBoolean taken = new AtomicBoolean();
    private final Sinks.Empty<Void> ended = Sinks.empty();
    private final Flux<DataBuffer> bytes;

    /**
     * Creates them.
     *
     * @param open the bytes of the open file
     * @param late the same bytes, of a file that is opened and closed by each subscription, for subscriptions after the
     *     first, or after {@link #over}
     */
    ResponseBytes(Flux<DataBuffer> open, Flux<DataBuffer> late) {
        Flux<DataBuffer> used = open.doFinally(signal -> ended.tryEmitEmpty());
        bytes = Flux.defer(() -> taken.compareAndSet(false, true) ? used : late);
    }

    Flux<DataBuffer> bytes() {
        return bytes;
    }

    /** Completes when the open file is no longer needed. The response has been completed before. */
    Mono<Void> over() {
        return Mono.defer(() -> taken.compareAndSet(false, true) ? Mono.empty() : ended.asMono());
    }
}
