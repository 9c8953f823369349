// SPDX-License-Identifier: Apache-2.0
package io.penstock;

import java.nio.ByteBuffer;
import java.util.Objects;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** Copies between files and ByteBuffers of the heap: {@link Backend#read} and {@link Backend#write}. */
final class HeapBytes {

    /** Bytes of a chunk where the caller chose none: copies in the cache, and few signals. */
    static final long CHUNK_BYTES = 256 << 10;

    private HeapBytes() {}

    static Flux<ByteBuffer> read(Backend backend, StreamPlan plan) {
        if (plan.chunkBytes() > Integer.MAX_VALUE) {
            throw new IllegalArgumentException("chunk size must be at most " + Integer.MAX_VALUE
                    + " bytes to fit a ByteBuffer, was " + plan.chunkBytes());
        }
        return backend.stream(plan, HeapBytes::copy);
    }

    private static Mono<ByteBuffer> copy(Chunk chunk) {
        BufferRegion region = chunk.region();
        ByteBuffer copy = ByteBuffer.allocate((int) chunk.length());
        if (region.buffer().hostView().isPresent()) {
            chunk.view().read(0, copy);
            return Mono.just(copy.flip());
        }
        return region.buffer().download(region.offset(), copy).thenReturn(copy);
    }

    static Mono<Long> write(Backend backend, WritePlan plan, Flux<ByteBuffer> bytes) {
        Objects.requireNonNull(plan, "plan");
        Objects.requireNonNull(bytes, "bytes");
        return Mono.deferContextual(context -> {
            ByteSource source = new ByteSource(bytes, context);
            return backend.write(plan, source::fill)
                    .flatMap(written -> source.end(written).thenReturn(written))
                    .doFinally(signal -> source.cancel());
        });
    }
}
