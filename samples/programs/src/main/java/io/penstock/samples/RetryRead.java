// SPDX-License-Identifier: Apache-2.0
package io.penstock.samples;

import io.penstock.Backend;
import io.penstock.Backends;
import io.penstock.DeviceLostException;
import io.penstock.FileOption;
import io.penstock.PenstockException;
import io.penstock.Transfer;
import io.penstock.TransientStorageException;
import java.nio.file.Path;
import java.time.Duration;
import reactor.core.publisher.Mono;
import reactor.util.retry.Retry;

/** Reads with Reactor's own operators: what may succeed later is tried again, errors name the read, and have a remedy. */
public final class RetryRead {

    private RetryRead() {}

    public static void main(String[] arguments) {
        try (Backend backend = Backends.open()) {
            Path path = Path.of(arguments[0]);
            System.out.println(patiently(read(backend, path), "the read of " + path)
                    .contextWrite(context -> context.put("user", "alice"))
                    .onErrorResume(PenstockException.class, e -> Mono.just(remedy(e)))
                    .block());
        }
    }

    /** Emits who read how much: the context of the subscriber is there in every function. */
    static Mono<String> read(Backend backend, Path path) {
        return backend.withFile(
                path,
                FileOption.READ,
                file -> backend.withBuffer(
                        file.size(),
                        buffer ->
                                Mono.deferContextual(context -> backend.submit(Transfer.read(file.all(), buffer.all()))
                                        .map(done -> context.get("user") + " read " + done.bytes() + " bytes"))));
    }

    /** Tries again what the backend had no room for. After the last attempt the error is the backend's own. */
    static <T> Mono<T> patiently(Mono<T> transfer, String name) {
        return transfer.checkpoint(name) // in the stack trace of its errors
                .retryWhen(Retry.backoff(3, Duration.ofMillis(10))
                        .filter(TransientStorageException.class::isInstance)
                        .onRetryExhaustedThrow((retry, last) -> last.failure()));
    }

    /** The classes of errors are sealed, one for each remedy. */
    static String remedy(PenstockException e) {
        if (e instanceof TransientStorageException) {
            return "try again later: " + e.getMessage();
        }
        return (e instanceof DeviceLostException ? "open another backend: " : "do not try again: ") + e.getMessage();
    }
}
