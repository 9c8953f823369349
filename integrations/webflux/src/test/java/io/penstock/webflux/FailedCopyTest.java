// SPDX-License-Identifier: Apache-2.0
package io.penstock.webflux;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.ByteBuffer;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.springframework.core.io.buffer.DataBuffer;
import org.springframework.core.io.buffer.DataBufferWrapper;
import org.springframework.core.io.buffer.DefaultDataBufferFactory;
import org.springframework.core.io.buffer.PooledDataBuffer;
import reactor.core.publisher.Mono;
import reactor.test.publisher.TestPublisher;
import reactor.util.context.Context;

/** A buffer whose bytes cannot be copied. */
class FailedCopyTest {

    private static final Duration LONG = Duration.ofSeconds(10);
    private static final int BYTES = 2;

    /** A buffer of a library that lacks a method. */
    private static final class Unlinked extends DataBufferWrapper implements PooledDataBuffer {

        private boolean released;

        Unlinked() {
            super(DefaultDataBufferFactory.sharedInstance.wrap(new byte[1]));
        }

        @Override
        public void toByteBuffer(int from, ByteBuffer to, int at, int length) {
            throw new NoSuchMethodError("toByteBuffer");
        }

        @Override
        public boolean isAllocated() {
            return !released;
        }

        @Override
        public PooledDataBuffer retain() {
            return this;
        }

        @Override
        public PooledDataBuffer touch(Object hint) {
            return this;
        }

        @Override
        public boolean release() {
            released = true;
            return true;
        }
    }

    /** Else the write would wait for ever, and its close would neither release the buffer nor cancel the publisher. */
    @Test
    void anErrorEndsTheWrite() {
        TestPublisher<DataBuffer> buffers = TestPublisher.create();
        ChunkFiller filler = new ChunkFiller(buffers, Context.empty());
        Mono<Long> filled = filler.fill(FakeChunk.of(BYTES)).cache();
        filled.subscribe(bytes -> {}, failure -> {});
        Unlinked buffer = new Unlinked();
        buffers.next(buffer);
        assertThatThrownBy(() -> filled.block(LONG)).isInstanceOf(NoSuchMethodError.class);
        filler.close();
        assertThat(buffer.released).as("the buffer is released").isTrue();
        buffers.assertCancelled();
    }
}
