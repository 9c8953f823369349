// SPDX-License-Identifier: Apache-2.0
package io.penstock.samples;

import io.penstock.Backend;
import io.penstock.Backends;
import io.penstock.Chunk;
import io.penstock.StreamPlan;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.zip.CRC32;
import reactor.core.publisher.Mono;

/** Computes the CRC-32 of a file of any size through 16 MiB of memory, while the next chunks are being read. */
public final class Checksum {

    private Checksum() {}

    public static void main(String[] arguments) {
        try (Backend backend = Backends.open("host")) {
            System.out.printf("%08x%n", of(backend, Path.of(arguments[0])).block());
        }
    }

    /** Emits the sum. */
    static Mono<Long> of(Backend backend, Path path) {
        return Mono.defer(() -> {
            CRC32 sum = new CRC32(); // one per subscription
            StreamPlan plan = StreamPlan.of(path).chunkBytes(4 << 20).depth(4);
            return backend.stream(plan, chunk -> Mono.fromRunnable(() -> sum.update(bytes(chunk))))
                    .then(Mono.fromSupplier(sum::getValue));
        });
    }

    /** Returns the bytes of the chunk themselves, no copy: they are lent until the function's Mono ends. */
    private static ByteBuffer bytes(Chunk chunk) {
        return chunk.view().buffer(0, (int) chunk.length());
    }
}
