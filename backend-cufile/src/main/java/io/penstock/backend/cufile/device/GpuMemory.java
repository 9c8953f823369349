// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.cufile.device;

import io.penstock.PeerExport;
import io.penstock.backend.cufile.peer.DmaBuf;
import io.penstock.engine.spi.DeviceMemory;
import java.util.concurrent.atomic.AtomicLong;

/** Memory of a GPU, which the processor does not address: a part of a span of ours, or what the application has. */
public final class GpuMemory implements DeviceMemory {

    public static final AtomicLong LIVE = new AtomicLong();

    private final GpuSpan span;
    private final long offset;
    private final long bytes;
    private final Runnable free;

    /**
     * Hands out a part of a span.
     *
     * @param free takes it back
     */
    public GpuMemory(GpuSpan span, long offset, long bytes, Runnable free) {
        this.span = span;
        this.offset = offset;
        this.bytes = bytes;
        this.free = free;
        LIVE.incrementAndGet();
    }

    /** Returns the allocation that this lies in, as cuFile would have it registered: once, whole. */
    public GpuSpan span() {
        return span;
    }

    @Override
    public long bytes() {
        return bytes;
    }

    @Override
    public long nativeHandle() {
        return span.address() + offset;
    }

    @Override
    public long hostAddress() {
        return 0;
    }

    @Override
    public PeerExport exportPeer() {
        return DmaBuf.export(span.context(), nativeHandle(), bytes);
    }

    @Override
    public void free() {
        LIVE.decrementAndGet();
        free.run();
    }
}
