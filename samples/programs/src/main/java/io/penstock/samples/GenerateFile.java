// SPDX-License-Identifier: Apache-2.0
package io.penstock.samples;

import io.penstock.Backend;
import io.penstock.Backends;
import io.penstock.Chunk;
import io.penstock.WritePlan;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import reactor.core.publisher.Mono;

/** Writes a file that is computed chunk by chunk, each while the chunks before it are being written. */
public final class GenerateFile {

    private static final int CHUNK = 1 << 20;

    private GenerateFile() {}

    /** Arguments: the file, and how many squares it is to hold. */
    public static void main(String[] arguments) {
        try (Backend backend = Backends.open("host")) {
            System.out.println(squares(backend, Path.of(arguments[0]), Long.parseLong(arguments[1]))
                    .block());
        }
    }

    /** Emits the bytes written: the squares of 0 to {@code count - 1}, 8 bytes each in native order. */
    static Mono<Long> squares(Backend backend, Path path, long count) {
        WritePlan plan = WritePlan.to(path).chunkBytes(CHUNK).depth(4).sync();
        return backend.write(plan, chunk -> Mono.fromSupplier(() -> fill(chunk, count)));
    }

    /** Returns the bytes that count; 0 ends the file. */
    private static long fill(Chunk chunk, long count) {
        ByteBuffer bytes = chunk.view().buffer(0, CHUNK);
        long number = chunk.index() * (CHUNK / Long.BYTES);
        while (bytes.hasRemaining() && number < count) {
            bytes.putLong(number * number);
            number++;
        }
        return bytes.position();
    }
}
