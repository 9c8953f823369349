// SPDX-License-Identifier: Apache-2.0
package io.penstock.samples;

import io.penstock.Backend;
import io.penstock.Backends;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.Iterator;
import java.util.zip.Deflater;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** Reads a file as ByteBuffers, and writes what a function makes of them: bytes on the heap, no device memory. */
public final class CompressFile {

    private static final int PIECE = 64 << 10;

    private CompressFile() {}

    /** Arguments: the file, and the compressed file to write. */
    public static void main(String[] arguments) {
        try (Backend backend = Backends.open("host")) {
            System.out.println(compress(backend, Path.of(arguments[0]), Path.of(arguments[1]))
                    .block());
        }
    }

    /** Emits the bytes of the compressed file, in zlib's format, once it is durable. */
    static Mono<Long> compress(Backend backend, Path from, Path to) {
        return Mono.using(
                Deflater::new,
                deflater -> {
                    Flux<ByteBuffer> body = backend.read(from).concatMapIterable(piece -> {
                        deflater.setInput(piece);
                        return () -> new Compressed(deflater, false);
                    });
                    Flux<ByteBuffer> tail = Flux.defer(() -> {
                        deflater.finish();
                        return Flux.fromIterable(() -> new Compressed(deflater, true));
                    });
                    return backend.write(to, body.concatWith(tail));
                },
                Deflater::end);
    }

    /** What the deflater has to give for its input: computed piece by piece, as the file takes them. */
    private record Compressed(Deflater deflater, boolean last) implements Iterator<ByteBuffer> {
        @Override
        public boolean hasNext() {
            return last ? !deflater.finished() : !deflater.needsInput();
        }

        @Override
        public ByteBuffer next() {
            ByteBuffer piece = ByteBuffer.allocate(PIECE);
            deflater.deflate(piece);
            return piece.flip();
        }
    }
}
