// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.gl.memory;

import io.penstock.backend.gl.context.BufferCalls;
import io.penstock.backend.gl.context.GlCall;
import io.penstock.backend.gl.context.GlContext;
import io.penstock.backend.gl.ffi.Gl;
import io.penstock.engine.kit.BufferPool;
import io.penstock.engine.spi.DeviceMemory;

/** A persistently mapped buffer in host memory: staging workers access the mapping, GL copies by the name. */
public final class GlStagingBuffer implements DeviceMemory {

    private static final int ACCESS =
            Gl.GL_MAP_READ_BIT | Gl.GL_MAP_WRITE_BIT | Gl.GL_MAP_PERSISTENT_BIT | Gl.GL_MAP_COHERENT_BIT;

    /** GL guarantees 64 bytes for mappings, and direct I/O requires blocks. */
    private static final long ALIGNMENT = 4096;

    private final Pool pool;
    private final int name;
    private final long start;
    private final long address;
    private final long bytes;

    /** The mapped staging buffers of one context. */
    public static final class Pool extends BufferPool<Long, GlStagingBuffer> {

        private final GlContext context;

        private Pool(GlContext context) {
            super(context, GlStagingBuffer::bytes);
            this.context = context;
        }

        /** Returns the staging buffers of a context. */
        public static Pool of(GlContext context) {
            return context.part(Pool.class, Pool::new);
        }

        @Override
        protected GlStagingBuffer allocate(Long bytes) {
            return context.call("allocation of a staging buffer", () -> GlStagingBuffer.allocate(this, bytes));
        }

        @Override
        protected void release(GlStagingBuffer staging) {
            context.postOrRun(() -> BufferCalls.delete(staging.name));
        }
    }

    private GlStagingBuffer(Pool pool, int name, long start, long address, long bytes) {
        this.pool = pool;
        this.name = name;
        this.start = start;
        this.address = address;
        this.bytes = bytes;
    }

    private static GlStagingBuffer allocate(Pool pool, long bytes) {
        BufferCalls buffers = pool.context.buffers();
        String request = "allocation of a mapped staging buffer of " + bytes + " bytes";
        int name = buffers.make(bytes + ALIGNMENT, ACCESS | Gl.GL_CLIENT_STORAGE_BIT);
        try {
            GlCall.ALLOCATE.check(request);
            long map = buffers.map(name, bytes + ALIGNMENT, ACCESS);
            GlCall.MAP.check(request);
            long start = -map & (ALIGNMENT - 1);
            return new GlStagingBuffer(pool, name, start, map + start, bytes);
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
        pool.give(this);
    }
}
