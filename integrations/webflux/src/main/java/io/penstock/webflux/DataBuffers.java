// SPDX-License-Identifier: Apache-2.0
package io.penstock.webflux;

import io.penstock.Backend;
import io.penstock.Chunk;
import io.penstock.StreamPlan;
import io.penstock.WritePlan;
import io.penstock.file.LeaseFlux;
import io.penstock.netty.NettyBuffers;
import java.time.Duration;
import java.util.function.Function;
import org.reactivestreams.Publisher;
import org.springframework.core.io.buffer.DataBuffer;
import org.springframework.core.io.buffer.DataBufferFactory;
import org.springframework.core.io.buffer.DataBufferUtils;
import org.springframework.core.io.buffer.NettyDataBufferFactory;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.util.context.ContextView;

/** Files as Spring's {@link DataBuffer}s, and back. */
public final class DataBuffers {

    private DataBuffers() {}

    /**
     * Streams files as buffers.
     *
     * <p><b>Result:</b> one buffer per chunk, in order. With a {@link NettyDataBufferFactory} the buffers are the
     * memory that the file was read into, at most {@link StreamPlan#depth} of them: the next chunk is read when one is
     * released, as {@link NettyBuffers#stream} describes. Other factories get copies.
     *
     * <p><b>Threading:</b> as {@link Backend#stream}.
     *
     * <p><b>Errors:</b> as of {@link Backend#stream}; {@link IllegalStateException} if the processor cannot address
     * the device's memory; {@link IllegalArgumentException} at once if a chunk would be larger than a buffer can be.
     *
     * <p><b>Cancellation:</b> as {@link Backend#stream}. Chunks that have not been emitted are released.
     *
     * <p><b>Ownership:</b> the subscriber releases each buffer. For a response use
     * {@code response.writeAndFlushWith(Mono.just(buffers))}, and
     * {@code doOnDiscard(DataBuffer.class, DataBufferUtils::release)} behind operators that may drop buffers:
     * {@code writeWith} forgets the first one if the client hangs up before it arrives. A {@code publishOn} directly
     * behind this drops none.
     *
     * @param factory the factory of the response: {@code response.bufferFactory()}
     */
    public static Flux<DataBuffer> stream(Backend backend, StreamPlan plan, DataBufferFactory factory) {
        if (plan.chunkBytes() > Integer.MAX_VALUE) {
            throw new IllegalArgumentException(
                    "chunkBytes must be at most " + Integer.MAX_VALUE + ", was " + plan.chunkBytes());
        }
        if (factory instanceof NettyDataBufferFactory netty) {
            return new LeaseFlux<>(
                    backend.stream(plan, chunk -> Mono.fromSupplier(chunk::retain)),
                    lease -> netty.wrap(NettyBuffers.of(lease)));
        }
        return backend.stream(plan, chunk -> Mono.fromSupplier(() -> copy(chunk, factory)))
                .doOnDiscard(DataBuffer.class, DataBufferUtils::release);
    }

    private static DataBuffer copy(Chunk chunk, DataBufferFactory factory) {
        int length = (int) chunk.length();
        DataBuffer copy = factory.allocateBuffer(length);
        try {
            return copy.write(chunk.view().buffer(0, length));
        } catch (RuntimeException | Error e) {
            DataBufferUtils.release(copy);
            throw e;
        }
    }

    /**
     * Writes buffers to a file in place, while the next ones arrive. The end of the publisher is the end of the file:
     * for the body of a request use {@link
     * HttpFiles#receive(org.springframework.http.server.reactive.ServerHttpRequest, java.nio.file.Path)}, since Reactor
     * Netty completes the body of a request that it refuses.
     *
     * <p><b>Result:</b> the bytes written, once all writes have ended (and are durable, with {@link WritePlan#sync}).
     * The memory is {@code plan.depth() * plan.chunkBytes()} and one buffer: the next is requested when it has been
     * copied.
     *
     * <p><b>Threading:</b> as {@link Backend#write}; {@code buffers} is subscribed to once the file is open.
     *
     * <p><b>Errors:</b> the errors of {@link Backend#write} and of {@code buffers}; {@link IllegalStateException} if
     * the processor cannot address the device's memory. What was written before stays in the file.
     *
     * <p><b>Cancellation:</b> cancels {@code buffers}; writes in flight may still take effect.
     *
     * <p><b>Ownership:</b> each buffer is released once it has been copied, and when the write ends.
     */
    public static Mono<Long> write(Backend backend, WritePlan plan, Publisher<? extends DataBuffer> buffers) {
        return fill(backend, plan, context -> new ChunkFiller(buffers, context));
    }

    /** Writes buffers that a client sends: they may not come more slowly than {@link Pace} allows. */
    static Mono<Long> write(
            Backend backend, WritePlan plan, Publisher<? extends DataBuffer> buffers, Duration patience) {
        return fill(backend, plan, context -> new ChunkFiller(buffers, context, patience));
    }

    private static Mono<Long> fill(Backend backend, WritePlan plan, Function<ContextView, ChunkFiller> fillers) {
        return Mono.deferContextual(context -> Mono.using(
                () -> fillers.apply(context), filler -> backend.write(plan, filler::fill), ChunkFiller::close));
    }
}
