// SPDX-License-Identifier: Apache-2.0
package io.penstock.netty;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.netty.buffer.UnpooledDirectByteBuf;
import io.penstock.Backend;
import io.penstock.HostLease;
import io.penstock.StreamPlan;
import io.penstock.file.LeaseFlux;
import java.nio.ByteBuffer;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** Netty's {@link ByteBuf}s over the memory that a {@link Backend} reads files into. */
public final class NettyBuffers {

    private NettyBuffers() {}

    /**
     * Streams files as buffers, without a copy.
     *
     * <p><b>Result:</b> one buffer per chunk, in order. The memory is {@code plan.depth() * plan.chunkBytes()}: the
     * next chunk is read when a buffer is released. An operator that keeps more buffers than {@link StreamPlan#depth}
     * ({@code collectList} of a long file) therefore waits for ever; it must copy them.
     *
     * <p><b>Threading:</b> as {@link Backend#stream}.
     *
     * <p><b>Errors:</b> as of {@link Backend#stream}; {@link IllegalStateException} if the processor cannot address
     * the device's memory; {@link IllegalArgumentException} at once if a chunk would be larger than a ByteBuf can be.
     *
     * <p><b>Cancellation:</b> as {@link Backend#stream}. Chunks that have not been emitted are released.
     *
     * <p><b>Ownership:</b> the subscriber releases each buffer, from any thread, before or after the stream ends.
     * Reactor Netty's {@code send} does. Behind operators that may drop buffers,
     * {@code doOnDiscard(ByteBuf.class, ByteBuf::release)} does. A {@code publishOn} directly behind this keeps none of
     * its own: what it has not taken when it is cancelled is released by the stream.
     */
    public static Flux<ByteBuf> stream(Backend backend, StreamPlan plan) {
        if (plan.chunkBytes() > Integer.MAX_VALUE) {
            throw new IllegalArgumentException(
                    "chunkBytes must be at most " + Integer.MAX_VALUE + ", was " + plan.chunkBytes());
        }
        // A supplier, so that nothing is retained for a subscriber that never requests. Leases that are discarded
        // before they are emitted are closed by the stream.
        return new LeaseFlux<>(backend.stream(plan, chunk -> Mono.fromSupplier(chunk::retain)), NettyBuffers::of);
    }

    /**
     * Returns the bytes of a lease as a buffer: readable and writable in place, of fixed capacity.
     *
     * <p><b>Errors:</b> {@link io.penstock.ClosedException} if the lease has ended; {@link IllegalStateException} if
     * the processor cannot address the device's memory; {@link ArithmeticException} if it is larger than a ByteBuf can
     * be.
     *
     * <p><b>Ownership:</b> takes over {@code lease}, also if it throws; the last {@link ByteBuf#release} closes it.
     */
    public static ByteBuf of(HostLease lease) {
        try {
            return new LeasedByteBuf(lease, lease.buffer());
        } catch (RuntimeException | Error e) {
            lease.close();
            throw e;
        }
    }

    /** The memory of a lease. The last release closes the lease. */
    private static final class LeasedByteBuf extends UnpooledDirectByteBuf {

        private final HostLease lease;

        LeasedByteBuf(HostLease lease, ByteBuffer memory) {
            super(UnpooledByteBufAllocator.DEFAULT, memory, memory.remaining());
            this.lease = lease;
        }

        @Override
        public ByteBuf capacity(int newCapacity) {
            if (newCapacity != capacity()) {
                throw new UnsupportedOperationException(
                        "capacity must be " + capacity() + ", the memory of the lease, was " + newCapacity);
            }
            return this;
        }

        @Override
        protected void deallocate() {
            super.deallocate(); // which frees nothing: the memory was not allocated by Netty
            lease.close();
        }
    }
}
