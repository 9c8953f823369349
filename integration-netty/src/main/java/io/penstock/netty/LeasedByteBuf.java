// SPDX-License-Identifier: Apache-2.0
package io.penstock.netty;

import io.netty.buffer.UnpooledByteBufAllocator;
import io.netty.buffer.UnpooledDirectByteBuf;
import io.penstock.HostLease;
import java.nio.ByteBuffer;

/** The memory of a lease. The last release closes the lease. */
final class LeasedByteBuf extends UnpooledDirectByteBuf {

    private final HostLease lease;

    LeasedByteBuf(HostLease lease, ByteBuffer memory) {
        super(UnpooledByteBufAllocator.DEFAULT, memory, memory.remaining());
        this.lease = lease;
    }

    @Override
    protected void deallocate() {
        super.deallocate(); // which frees nothing: the memory was not allocated by Netty
        lease.close();
    }
}
