// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.resource;

import io.penstock.PeerExport;
import java.net.URI;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import reactor.core.publisher.Mono;

/** An export of a buffer, which keeps the buffer's memory, and with it the device, until it is closed. */
public final class BufferExport implements PeerExport {

    private final EngineBuffer buffer;
    private final PeerExport memory;
    private final AtomicBoolean closed = new AtomicBoolean();
    private volatile boolean described; // a driver may have the dma-buf

    private BufferExport(EngineBuffer buffer, PeerExport memory) {
        this.buffer = buffer;
        this.memory = memory;
    }

    static PeerExport of(EngineBuffer buffer) {
        Owner owner = buffer.owner();
        if (!owner.enter()) {
            throw Failures.closed("export of " + buffer, "the backend");
        }
        if (!buffer.pins().tryPin()) {
            owner.leave();
            throw Failures.closed("export of " + buffer, "the buffer");
        }
        try {
            BufferExport export = new BufferExport(buffer, buffer.memory().exportPeer());
            owner.resources().exported(export);
            return export;
        } catch (RuntimeException | Error e) {
            buffer.pins().unpin();
            owner.leave();
            throw e;
        }
    }

    @Override
    public int descriptor() {
        int descriptor = memory.descriptor(); // throws where there is no dma-buf
        described = true;
        return descriptor;
    }

    @Override
    public long offset() {
        return memory.offset();
    }

    @Override
    public long bytes() {
        return memory.bytes();
    }

    @Override
    public long pageBytes() {
        return memory.pageBytes();
    }

    @Override
    public long alignment() {
        return memory.alignment();
    }

    @Override
    public List<String> limits(String... importers) {
        return memory.limits(importers);
    }

    @Override
    public URI uri() {
        return memory.uri();
    }

    @Override
    public Mono<Void> released() {
        return memory.released();
    }

    @Override
    public void close() {
        if (closed.compareAndSet(false, true)) {
            memory.close();
            memory.released().subscribe(nothing -> {}, e -> {}, this::release);
        }
    }

    private void release() {
        Owner owner = buffer.owner();
        owner.resources().unexported(this);
        buffer.pins().unpin();
        owner.leave();
    }

    /** Closes it unless a driver may have the dma-buf: other processes can be told to release the memory. */
    public void closeIfRevocable() {
        if (!described) {
            close();
        }
    }

    @Override
    public String toString() {
        return (closed.get() ? "closed export of " : "export of ") + buffer;
    }
}
