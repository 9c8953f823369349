// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.gl.memory;

import io.penstock.backend.gl.context.BufferCalls;
import io.penstock.backend.gl.context.GlCall;
import io.penstock.backend.gl.context.GlContext;
import io.penstock.backend.gl.ffi.Gl;
import io.penstock.engine.spi.DeviceMemory;
import java.util.concurrent.atomic.AtomicLong;

/** A persistently mapped buffer in host memory: staging workers access the mapping, GL copies by the name. */
public final class GlStagingBuffer implements DeviceMemory {

    public static final AtomicLong LIVE = new AtomicLong();

    private static final int ACCESS =
            Gl.GL_MAP_READ_BIT | Gl.GL_MAP_WRITE_BIT | Gl.GL_MAP_PERSISTENT_BIT | Gl.GL_MAP_COHERENT_BIT;

    /** GL guarantees 64 bytes for mappings, and direct I/O requires blocks. */
    private static final long ALIGNMENT = 4096;

    private final GlContext context;
    private final int name;
    private final long start;
    private final long address;
    private final long bytes;
    private final boolean counted; // as a reference to the context

    private GlStagingBuffer(GlContext context, int name, long start, long address, long bytes, boolean counted) {
        this.context = context;
        this.name = name;
        this.start = start;
        this.address = address;
        this.bytes = bytes;
        this.counted = counted;
        if (counted) {
            context.join();
        }
        LIVE.incrementAndGet();
    }

    /**
     * Allocates a buffer; on the context's thread.
     *
     * @param counted true if it holds a reference to the context; otherwise it is freed when the context is released
     */
    public static GlStagingBuffer allocate(GlContext context, long bytes, boolean counted) {
        String request = "allocation of a mapped staging buffer of " + bytes + " bytes";
        int name = context.buffers().make(bytes + ALIGNMENT, ACCESS | Gl.GL_CLIENT_STORAGE_BIT);
        try {
            GlCall.ALLOCATE.check(request);
            long map = context.buffers().map(name, bytes + ALIGNMENT, ACCESS);
            GlCall.MAP.check(request);
            long start = -map & (ALIGNMENT - 1);
            return new GlStagingBuffer(context, name, start, map + start, bytes, counted);
        } catch (RuntimeException | Error e) {
            BufferCalls.delete(name);
            throw e;
        }
    }

    public int name() {
        return name;
    }

    /** Returns the offset of its first byte in the buffer. */
    public long start() {
        return start;
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
        return address;
    }

    @Override
    public void free() {
        LIVE.decrementAndGet();
        context.postOrRun(() -> BufferCalls.delete(name));
        if (counted) {
            context.leave();
        }
    }
}
