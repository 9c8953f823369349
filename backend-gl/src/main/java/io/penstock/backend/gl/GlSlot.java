// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.gl;

import io.penstock.backend.gl.ffi.Gl;
import io.penstock.engine.spi.DeviceMemory;
import java.util.concurrent.atomic.AtomicLong;

/** A buffer in the host's memory, mapped for good: fillers work on the map, GL copies by the name. */
final class GlSlot implements DeviceMemory {

    static final AtomicLong LIVE = new AtomicLong();

    private static final int ACCESS =
            Gl.GL_MAP_READ_BIT | Gl.GL_MAP_WRITE_BIT | Gl.GL_MAP_PERSISTENT_BIT | Gl.GL_MAP_COHERENT_BIT;

    /** GL promises 64 bytes for maps, and file I/O past the page cache wants blocks. */
    private static final long ALIGNMENT = 4096;

    private final GlContext context;
    private final int name;
    private final long start;
    private final long address;
    private final long bytes;
    private final boolean counted; // as a user of the context

    private GlSlot(GlContext context, int name, long start, long address, long bytes, boolean counted) {
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
     * Allocates one; on the thread of the context.
     *
     * @param counted whether the context stays for it; if not, it is freed when the context is let go
     */
    static GlSlot allocate(GlContext context, long bytes, boolean counted) {
        String request = "allocation of a mapped slot of " + bytes + " bytes";
        int name = context.buffers().make(bytes + ALIGNMENT, ACCESS | Gl.GL_CLIENT_STORAGE_BIT);
        try {
            GlFailure.check(request, GlCall.ALLOCATE);
            long map = context.buffers().map(name, bytes + ALIGNMENT, ACCESS);
            GlFailure.check(request, GlCall.MAP);
            long start = -map & (ALIGNMENT - 1);
            return new GlSlot(context, name, start, map + start, bytes, counted);
        } catch (RuntimeException e) {
            BufferCalls.delete(name);
            throw e;
        }
    }

    int name() {
        return name;
    }

    /** Returns where in the buffer its first byte is. */
    long start() {
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
