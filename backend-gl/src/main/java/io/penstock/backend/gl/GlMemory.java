// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.gl;

import io.penstock.backend.gl.ffi.Gl;
import io.penstock.engine.host.ForeignMapping;
import io.penstock.engine.host.ForeignMemory;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/** A GL buffer: one of ours, or what the application has. */
final class GlMemory implements ForeignMemory {

    static final AtomicLong LIVE = new AtomicLong();

    /** What a buffer of ours that the processor reaches is made and mapped with. */
    private static final int MAPPED =
            Gl.GL_MAP_READ_BIT | Gl.GL_MAP_WRITE_BIT | Gl.GL_MAP_PERSISTENT_BIT | Gl.GL_MAP_COHERENT_BIT;

    /** Places in the tables of rings are few. */
    private static final long LEAST_REGISTERED_BYTES = 64 << 10;

    private final GlContext context;
    private final int name;
    private final long bytes;
    private final long hostAddress;
    private final boolean owned;
    private final @Nullable ForeignMapping mapping;

    private GlMemory(GlContext context, int name, long bytes, long hostAddress, boolean owned) {
        this.context = context;
        this.name = name;
        this.bytes = bytes;
        this.hostAddress = hostAddress;
        this.owned = owned;
        this.mapping =
                hostAddress != 0 && bytes >= LEAST_REGISTERED_BYTES ? new ForeignMapping(hostAddress, bytes) : null;
        context.join();
        LIVE.incrementAndGet();
    }

    /**
     * Allocates a buffer; on the thread of the context.
     *
     * @param mapped whether the processor is to reach it
     */
    static GlMemory allocate(GlContext context, long bytes, boolean mapped) {
        String request = "allocation of a GL buffer of " + bytes + " bytes";
        long address = 0;
        int name = context.buffers().make(bytes, mapped ? MAPPED : 0);
        try {
            GlFailure.check(request, GlCall.ALLOCATE);
            if (mapped) {
                address = context.buffers().map(name, bytes, MAPPED);
                GlFailure.check(request, GlCall.MAP);
            }
            return new GlMemory(context, name, bytes, address, true);
        } catch (RuntimeException e) {
            BufferCalls.delete(name);
            throw e;
        }
    }

    /**
     * Wraps a buffer of the application's; on the thread of the context.
     *
     * @throws IllegalArgumentException if GL does not know it, or it is shorter
     */
    static GlMemory wrap(GlContext context, long handle, long bytes) {
        String buffer = "the GL buffer " + handle;
        if (handle != (int) handle || Gl.glIsBuffer((int) handle) == 0) {
            throw new IllegalArgumentException(
                    buffer + " is none that " + context + " knows, nor of a context that shares with it");
        }
        long size = context.buffers().size((int) handle);
        GlFailure.check("wrapping of " + buffer, GlCall.SIZE);
        if (bytes > size) {
            throw new IllegalArgumentException(buffer + " has " + size + " bytes, not " + bytes);
        }
        return new GlMemory(context, (int) handle, bytes, 0, false);
    }

    /** Returns GL's name of the buffer. */
    int name() {
        return name;
    }

    GlContext context() {
        return context;
    }

    @Override
    public long bytes() {
        return bytes;
    }

    @Override
    public long nativeHandle() {
        return name;
    }

    @Override
    public long hostAddress() {
        return hostAddress;
    }

    @Override
    public @Nullable ForeignMapping mapping() {
        return mapping;
    }

    @Override
    public void free() {
        if (mapping != null) {
            mapping.retire();
        }
        LIVE.decrementAndGet();
        if (owned) {
            context.post(() -> BufferCalls.delete(name));
        }
        context.leave();
    }
}
