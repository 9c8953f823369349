// SPDX-License-Identifier: Apache-2.0
package io.penstock.samples;

import io.penstock.Backend;
import io.penstock.Backends;
import io.penstock.FileOption;
import io.penstock.PenstockException;
import io.penstock.Transfer;
import java.nio.file.Path;
import java.time.Duration;
import reactor.core.publisher.Mono;

/**
 * Reads a file within a time limit. If it passes, the error is signalled when the device no longer uses the buffer, and
 * has the bytes that were read; Reactor's {@code timeout} signals at once, while the read may still be under way.
 */
public final class ReadInTime {

    private ReadInTime() {}

    /** Arguments: the file, and milliseconds. */
    public static void main(String[] arguments) {
        Duration limit = Duration.ofMillis(Long.parseLong(arguments[1]));
        try (Backend backend = Backends.open()) {
            System.out.println(read(backend, Path.of(arguments[0]), limit).block());
        }
    }

    /** Emits how many bytes were read, and whether that is all. */
    static Mono<String> read(Backend backend, Path path, Duration limit) {
        return backend.withFile(
                path,
                FileOption.READ,
                file -> backend.withBuffer(
                        file.size(),
                        buffer -> backend.submit(
                                        Transfer.read(file.all(), buffer.all()).deadline(limit))
                                .map(done -> done.bytes() + " bytes")
                                .onErrorResume(PenstockException.class, e -> Mono.just(describe(e)))));
    }

    private static String describe(PenstockException e) {
        return e.outcome() + ", " + e.bytes() + " bytes: " + e.getMessage();
    }
}
