// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.stream;

import io.penstock.BufferRegion;
import io.penstock.Chunk;
import io.penstock.DeviceBuffer;
import io.penstock.DeviceFence;
import io.penstock.HostLease;
import io.penstock.HostView;
import io.penstock.engine.order.Pins;
import java.nio.ByteBuffer;
import java.util.Objects;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicIntegerFieldUpdater;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Operators;
import reactor.util.context.Context;

/**
 * A buffer of a stream or a write, lent to the application's function.
 *
 * <p><b>Threading:</b> any thread.
 */
final class ChunkLease implements Chunk, Lease {

    /** The lender: notified of events of the lease, on any thread. */
    interface Lender {

        /** Returns true if leases that are dropped unclosed are reported. */
        boolean isDetectingLeaks();

        /** Called when a fence acquires a hold on a lease. */
        void fenceNoted();

        /** Called when a fence is signalled, after its lease. */
        void fenceSignalled();

        /** Called when {@code lease} has no holders left. */
        void leaseEnded(ChunkLease lease);
    }

    private static final AtomicIntegerFieldUpdater<ChunkLease> HOLDS =
            AtomicIntegerFieldUpdater.newUpdater(ChunkLease.class, "holds");

    private final Lender lender;
    private final DeviceBuffer memory;
    private final long index;
    private final long fileOffset;
    private final long length;
    private final @Nullable Pins pinned; // the pins of the buffer; null if it was closed already
    private final Queue<DeviceFence> fences = new ConcurrentLinkedQueue<>();

    // Two threads may both create one, which is harmless: views have no state.
    private @Nullable HostView memoryView;

    // One for the function, one for each fence not signalled, one for each retained lease. 0 is final: a thread that
    // acquires (retain, releaseAfter) and the thread that releases last agree in one compare-and-set.
    private volatile int holds = 1;

    ChunkLease(Lender lender, DeviceBuffer memory, long index, long fileOffset, long length) {
        this.lender = lender;
        this.memory = memory;
        this.index = index;
        this.fileOffset = fileOffset;
        this.length = length;
        // A lent buffer is in use: a backend that is closed meanwhile closes the buffer, and the end of the lease frees
        // it.
        this.pinned = Leases.pin(memory);
        Leases.began();
    }

    /** Returns the buffer that is lent. */
    DeviceBuffer memory() {
        return memory;
    }

    @Override
    public long index() {
        return index;
    }

    @Override
    public long fileOffset() {
        return fileOffset;
    }

    @Override
    public long length() {
        return length;
    }

    @Override
    public BufferRegion region() {
        checkOpen();
        return memory.region(0, length);
    }

    @Override
    public HostView view() {
        checkOpen();
        return view(this);
    }

    HostView view(Lease lease) {
        HostView bytes = memoryView;
        if (bytes == null) {
            bytes = memory.hostView()
                    .orElseThrow(() -> new IllegalStateException("the host cannot address the memory of " + this));
            memoryView = bytes;
        }
        return new GuardedView(lease, bytes, length);
    }

    /**
     * {@inheritDoc} The call itself registers the fence, so that the lease cannot end before the Mono is subscribed to.
     */
    @Override
    public Mono<Void> releaseAfter(DeviceFence fence) {
        checkOpen();
        Mono<Void> signalled = Objects.requireNonNull(fence.signalled()); // the application's: it may throw
        hold();
        fences.add(fence);
        lender.fenceNoted();
        // Signalled in success and in failure alike (rule 102); an error of the fence itself means that there is
        // nothing to wait for.
        signalled.subscribe(nothing -> {}, failure -> signalled(), this::signalled);
        return Mono.empty();
    }

    private void signalled() {
        release();
        lender.fenceSignalled();
    }

    @Override
    public HostLease retain() {
        hold();
        return new CountedLease(this, lender.isDetectingLeaks());
    }

    private void hold() {
        int seen = holds;
        while (seen != 0 && !HOLDS.compareAndSet(this, seen, seen + 1)) {
            seen = holds;
        }
        if (seen == 0) {
            throw Leases.over(this);
        }
    }

    /** Releases one hold. */
    void release() {
        if (HOLDS.decrementAndGet(this) == 0) {
            fences.forEach(ChunkLease::close);
            Leases.ended();
            try {
                lender.leaseEnded(this);
            } finally {
                if (pinned != null) {
                    pinned.unpin();
                }
            }
        }
    }

    private static void close(DeviceFence fence) {
        try {
            fence.close();
        } catch (RuntimeException e) { // an application's own
            Operators.onErrorDropped(e, Context.empty());
        }
    }

    /** Returns true if it has no holders left. */
    boolean isOver() {
        return holds == 0;
    }

    @Override
    public void checkOpen() {
        if (isOver()) {
            throw Leases.over(this);
        }
    }

    @Override
    public String toString() {
        return "chunk " + index + " of " + length + " bytes at " + fileOffset;
    }

    /**
     * The first bytes of a buffer, for as long as a lease lasts.
     *
     * <p>The buffer serves one lease after the other; each lease is a separate object, which serves as the generation of
     * its views. An access that races with the end of the lease may still see the memory: it belongs either to that lease
     * or to a later one, and is never freed, because the buffer's view checks that.
     */
    private static final class GuardedView implements HostView {

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
}
