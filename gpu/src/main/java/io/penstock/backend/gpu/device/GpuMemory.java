// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.gpu.device;

import io.penstock.PeerExport;
import io.penstock.backend.gpu.peer.GpuExport;
import io.penstock.engine.kit.LiveObjects;
import io.penstock.engine.spi.DeviceMemory;
import reactor.core.publisher.Mono;

/** GPU memory, not addressable by the processor: a part of an allocated span, or memory of the application. */
public final class GpuMemory implements DeviceMemory {

    private final GpuSpan span;
    private final long offset;
    private final long bytes;
    private final Runnable free;
    private final Mono<Void> revoked;

    /**
     * Creates memory from a part of a span.
     *
     * @param free returns it to its owner
     */
    public GpuMemory(GpuSpan span, long offset, long bytes, Runnable free) {
        this(span, offset, bytes, free, Mono.never());
    }

    /** As above, for memory of another process; {@code revoked} completes when that process ends its export. */
    GpuMemory(GpuSpan span, long offset, long bytes, Runnable free, Mono<Void> revoked) {
        this.span = span;
        this.offset = offset;
        this.bytes = bytes;
        this.free = free;
        this.revoked = revoked;
        LiveObjects.add(GpuMemory.class);
    }

    /** Returns the allocation that contains this memory. The file API registers it once, as a whole. */
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
        return new GpuExport(span.context(), nativeHandle(), bytes);
    }

    @Override
    public Mono<Void> revoked() {
        return revoked;
    }

    @Override
    public void free() {
        LiveObjects.remove(GpuMemory.class);
        free.run();
    }
}
