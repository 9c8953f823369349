// SPDX-License-Identifier: Apache-2.0
package io.penstock.cli.serve;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.netty.buffer.UnpooledDirectByteBuf;
import io.penstock.HostLease;
import java.nio.ByteBuffer;

/**
 * The memory of a lease as a Netty buffer: the socket is written from the same bytes that the file was read into, and
 * the last release, after the write completed or failed, closes the lease.
 */
final class LeasedBytes extends UnpooledDirectByteBuf {

    private final HostLease lease;

    private LeasedBytes(HostLease lease, ByteBuffer memory) {
        super(UnpooledByteBufAllocator.DEFAULT, memory, memory.remaining());
        this.lease = lease;
    }

    /** Takes over {@code lease}: from then on the buffer's reference count controls it. */
    static ByteBuf of(HostLease lease) {
        try {
            return new LeasedBytes(lease, lease.buffer());
        } catch (RuntimeException e) {
            lease.close();
            throw e;
        }
    }

    @Override
    protected void deallocate() {
        super.deallocate(); // which frees nothing: the memory was not allocated by Netty
        lease.close();
    }
}
