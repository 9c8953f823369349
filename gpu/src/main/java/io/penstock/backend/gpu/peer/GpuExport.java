// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.gpu.peer;

import io.penstock.PeerExport;
import io.penstock.backend.gpu.context.GpuContext;
import io.penstock.engine.kit.ffi.LibC;
import io.penstock.engine.kit.machine.KernelFiles;
import io.penstock.engine.kit.machine.PeerLimits;
import java.net.URI;
import java.util.List;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

/**
 * A range of GPU memory for peers: a dma-buf and an IPC export, each created at its first use. Memory and
 * GPUs that have one may lack the other.
 *
 * <p><b>Threading:</b> thread-safe.
 */
public final class GpuExport implements PeerExport {

    private final GpuContext context;
    private final long address;
    private final long length;
    private final PeerLimits limits;
    private final Sinks.Empty<Void> released = Sinks.empty();

    // Guarded by this.
    private @Nullable DmaBuf drivers;
    private @Nullable IpcExport processes;
    private boolean closed;

    /** Creates an export of a range of a context's memory, without any native call. */
    public GpuExport(GpuContext context, long address, long length) {
        this(KernelFiles.here(), context, address, length);
    }

    /** As above, of a GPU of another machine, for tests. */
    GpuExport(KernelFiles machine, GpuContext context, long address, long length) {
        this.limits = new PeerLimits(machine, context.gpu().bus(), context.gpu().bytes());
        this.context = context;
        this.address = address;
        this.length = length;
    }

    private synchronized DmaBuf dmaBuf() {
        DmaBuf known = drivers;
        if (known == null) {
            checkOpen();
            known = DmaBuf.export(context, address, length, limits);
            drivers = known;
        }
        return known;
    }

    private void checkOpen() {
        if (closed) {
            throw new IllegalStateException("the export of " + length + " bytes is closed");
        }
    }

    @Override
    public int descriptor() {
        return dmaBuf().descriptor();
    }

    @Override
    public long offset() {
        return dmaBuf().offset();
    }

    @Override
    public long bytes() {
        return dmaBuf().bytes();
    }

    @Override
    public long pageBytes() {
        return DmaBuf.pageBytes(context);
    }

    @Override
    public long alignment() {
        return LibC.pageSize();
    }

    @Override
    public List<String> limits(String... importers) {
        return limits.of(importers);
    }

    @Override
    public synchronized URI uri() {
        checkOpen();
        IpcExport known = processes;
        if (known == null) {
            known = IpcExport.open(context, address, length);
            processes = known;
        }
        return known.uri();
    }

    @Override
    public Mono<Void> released() {
        return released.asMono();
    }

    @Override
    public void close() {
        IpcExport revoked;
        synchronized (this) {
            if (closed) {
                return;
            }
            closed = true;
            if (drivers != null) {
                drivers.close();
            }
            revoked = processes;
        }
        if (revoked == null) {
            released.tryEmitEmpty();
        } else {
            revoked.released().subscribe(nothing -> {}, e -> {}, released::tryEmitEmpty);
            revoked.close();
        }
    }
}
