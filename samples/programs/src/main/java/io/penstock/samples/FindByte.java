// SPDX-License-Identifier: Apache-2.0
package io.penstock.samples;

import io.penstock.Backend;
import io.penstock.Backends;
import io.penstock.Chunk;
import io.penstock.StreamPlan;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.Optional;
import reactor.core.publisher.Mono;

/** Finds a byte in a file and cancels the rest of the stream. */
public final class FindByte {

    private FindByte() {}

    /** Arguments: the file, and the byte as a number. */
    public static void main(String[] arguments) {
        try (Backend backend = Backends.open("host")) {
            System.out.println(find(backend, Path.of(arguments[0]), Byte.decode(arguments[1]))
                    .block());
        }
    }

    /** Emits the offset of the first such byte; empty if there is none. */
    static Mono<Long> find(Backend backend, Path path, byte wanted) {
        return backend.stream(StreamPlan.of(path), chunk -> Mono.justOrEmpty(find(chunk, wanted)))
                .next(); // cancels; the memory is given back when the reads ahead have ended
    }

    private static Optional<Long> find(Chunk chunk, byte wanted) {
        ByteBuffer bytes = chunk.view().buffer(0, (int) chunk.length());
        while (bytes.hasRemaining()) {
            if (bytes.get() == wanted) {
                return Optional.of(chunk.fileOffset() + bytes.position() - 1);
            }
        }
        return Optional.empty();
    }
}
