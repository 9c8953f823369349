// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.gpu.staged;

import io.penstock.PenstockException;
import io.penstock.backend.gpu.api.DriverApi;
import io.penstock.backend.gpu.context.GpuContext;
import io.penstock.engine.kit.BufferPool;
import io.penstock.engine.kit.Pause;
import io.penstock.engine.kit.memory.Slab;
import io.penstock.engine.kit.memory.Slabs;
import io.penstock.engine.spi.DeviceMemory;
import java.nio.ByteBuffer;

/**
 * Pinned host memory that the GPU copies from and to, with its own event: at most one copy per staging buffer is in
 * flight, so that a copy needs no lookup and no allocation.
 */
public final class PinnedBuffer implements DeviceMemory {

    private final Pool pool;
    private final CopyStreams streams;
    private final Slab slab;
    private final long event;

    // For the thread that waits for a copy. With a dozen threads a staging buffer waits some 400 us for the link. Polls
    // take a driver lock, which threads that start copies also need.
    private final Pause pause = new Pause().gaps(3_000, 500_000).naps(20_000, 20_000);

    /** The pinned staging buffers of one context. */
    public static final class Pool extends BufferPool<Long, PinnedBuffer> {

        private final GpuContext context;

        private Pool(GpuContext context) {
            super(context, PinnedBuffer::bytes);
            this.context = context;
        }

        /** Returns the staging buffers of a context. */
        public static Pool of(GpuContext context) {
            return context.part(Pool.class, Pool::new);
        }

        @Override
        protected PinnedBuffer allocate(Long bytes) {
            return context.run("pinning", () -> PinnedBuffer.allocate(this, bytes));
        }

        @Override
        protected void release(PinnedBuffer staging) {
            try {
                context.run("release of a staging buffer", staging::release);
            } catch (PenstockException lost) {
                // the context is gone, and so is its memory
            }
        }
    }

    private PinnedBuffer(Pool pool, CopyStreams streams, Slab slab, long event) {
        this.pool = pool;
        this.streams = streams;
        this.slab = slab;
        this.event = event;
    }

    /**
     * Allocates a buffer; its context must be current.
     *
     * <p>Memory of the process is registered instead of allocated by the driver. The driver allocates under a lock, 80
     * MiB in 30 to 40 ms whatever the number of threads; several threads that provide their pages first and then
     * register them took 10 ms for the same (two H100s, driver API in C, 2026-11-24).
     */
    private static PinnedBuffer allocate(Pool pool, long bytes) {
        DriverApi driver = pool.context.driver();
        CopyStreams streams = CopyStreams.of(pool.context);
        String request = "pinning of a staging buffer of " + bytes + " bytes";
        Slab slab = Slabs.shared().allocate(bytes);
        providePages(slab);
        // Portable: pinned for all contexts, whichever is current where the file API or another device uses it.
        int result = driver.memHostRegister(slab.hostAddress(), bytes, DriverApi.HOST_PORTABLE);
        if (result != DriverApi.SUCCESS) {
            slab.free();
            throw driver.exception(request, "memHostRegister", result);
        }
        long[] event = new long[1];
        result = driver.eventCreate(event, DriverApi.EVENT_DISABLE_TIMING);
        if (result != DriverApi.SUCCESS) {
            unpin(driver, slab);
            throw driver.exception(request, "eventCreate", result);
        }
        return new PinnedBuffer(pool, streams, slab, event[0]);
    }

    /** Writes to each page: registering provides the missing pages, with one thread at a time. */
    private static void providePages(Slab slab) {
        ByteBuffer memory = slab.buffer(0, Math.toIntExact(slab.bytes()));
        for (int at = 0; at < memory.capacity(); at += Slabs.MIN_BYTES) {
            memory.put(at, (byte) 0);
        }
    }

    private int release() {
        int destroyed = pool.context.driver().eventDestroy(event);
        unpin(pool.context.driver(), slab);
        return destroyed;
    }

    private static void unpin(DriverApi driver, Slab slab) {
        if (driver.memHostUnregister(slab.hostAddress()) == DriverApi.SUCCESS) {
            slab.free();
        } // else the driver may still hold its pages, and nobody else may get them
    }

    /** Returns the streams on which it is copied. */
    public CopyStreams streams() {
        return streams;
    }

    Pause pause() {
        return pause;
    }

    public long event() {
        return event;
    }

    @Override
    public long bytes() {
        return slab.bytes();
    }

    @Override
    public long nativeHandle() {
        return slab.hostAddress();
    }

    @Override
    public long hostAddress() {
        return slab.hostAddress();
    }

    @Override
    public void free() {
        pool.give(this);
    }
}
