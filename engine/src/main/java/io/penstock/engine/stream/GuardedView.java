// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.stream;

import io.penstock.HostView;
import java.nio.ByteBuffer;
import java.util.Objects;

/**
 * The first bytes of a buffer, for as long as a lease lasts.
 *
 * <p>The buffer serves one lease after the other; each lease is a separate object, which serves as the generation of
 * its views. An access that races with the end of the lease may still see the memory: it belongs either to that lease
 * or to a later one, and is never freed, because the buffer's view checks that.
 */
final class GuardedView implements HostView {

    private final Lease lease;
    private final HostView memory;
    private final long length;

    GuardedView(Lease lease, HostView memory, long length) {
        this.lease = lease;
        this.memory = memory;
        this.length = length;
    }

    @Override
    public long length() {
        lease.checkOpen();
        return length;
    }

    @Override
    public byte get(long index) {
        lease.checkOpen();
        return memory.get(Objects.checkIndex(index, length));
    }

    @Override
    public void put(long index, byte value) {
        lease.checkOpen();
        memory.put(Objects.checkIndex(index, length), value);
    }

    @Override
    public void read(long offset, ByteBuffer target) {
        lease.checkOpen();
        Objects.checkFromIndexSize(offset, target.remaining(), length);
        memory.read(offset, target);
    }

    @Override
    public void write(long offset, ByteBuffer source) {
        lease.checkOpen();
        Objects.checkFromIndexSize(offset, source.remaining(), length);
        memory.write(offset, source);
    }

    @Override
    public ByteBuffer buffer(long offset, int length) {
        lease.checkOpen();
        Objects.checkFromIndexSize(offset, length, this.length);
        return memory.buffer(offset, length);
    }
}
