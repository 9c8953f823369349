// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.cufile.staged;

import io.penstock.backend.cufile.cuda.CudaFailure;
import io.penstock.backend.cufile.ffi.Cuda;
import io.penstock.backend.cufile.ffi.CudaError;
import io.penstock.engine.spi.DeviceMemory;
import io.penstock.engine.spi.Pause;
import io.penstock.engine.spi.memory.Slab;
import io.penstock.engine.spi.memory.Slabs;
import java.nio.ByteBuffer;
import java.util.function.Consumer;

/**
 * Pinned host memory that the GPU copies from and to, with its own event: at most one copy per staging buffer is in
 * flight, so that a copy needs no lookup and no allocation.
 */
public final class PinnedBuffer implements DeviceMemory {

    private final Consumer<PinnedBuffer> owner;
    private final CopyStreams streams;
    private final Slab slab;
    private final long event;

    // For the thread that waits for a copy. With a dozen threads a staging buffer waits some 400 us for the link. Polls
    // take a driver lock, which threads that start copies also need.
    private final Pause pause = new Pause().gaps(3_000, 500_000).naps(20_000, 20_000);

    private PinnedBuffer(Consumer<PinnedBuffer> owner, CopyStreams streams, Slab slab, long event) {
        this.owner = owner;
        this.streams = streams;
        this.slab = slab;
        this.event = event;
    }

    /**
     * Allocates a buffer, which is returned to {@code owner} when it is freed; its context must be current.
     *
     * <p>Memory of the process is registered instead of allocated by the driver. The driver allocates under a lock, 80 MiB
     * in 30 to 40 ms whatever the number of threads; several threads that provide their pages first and then register them
     * took 10 ms for the same (two H100s, driver API in C, 2026-11-24).
     */
    static PinnedBuffer allocate(Consumer<PinnedBuffer> owner, CopyStreams streams, long bytes) {
        String request = "pinning of a staging buffer of " + bytes + " bytes";
        Slab slab = Slabs.shared().allocate(bytes);
        providePages(slab);
        // Portable: pinned for all contexts, whichever is current where cuFile or another device uses it.
        int result = Cuda.cuMemHostRegister_v2(slab.hostAddress(), bytes, Cuda.CU_MEMHOSTREGISTER_PORTABLE);
        if (result != CudaError.SUCCESS) {
            slab.free();
            throw CudaFailure.exception(request, "cuMemHostRegister", result);
        }
        long[] event = new long[1];
        result = Cuda.cuEventCreate(event, Cuda.CU_EVENT_DISABLE_TIMING);
        if (result != CudaError.SUCCESS) {
            unpin(slab);
            throw CudaFailure.exception(request, "cuEventCreate", result);
        }
        return new PinnedBuffer(owner, streams, slab, event[0]);
    }

    /** Writes to each page: registering provides those that are missing, one thread at a time. */
    private static void providePages(Slab slab) {
        ByteBuffer memory = slab.buffer(0, Math.toIntExact(slab.bytes()));
        for (int at = 0; at < memory.capacity(); at += Slabs.MIN_BYTES) {
            memory.put(at, (byte) 0);
        }
    }

    /** Frees it; its context must be current. */
    void release() {
        Cuda.cuEventDestroy_v2(event);
        unpin(slab);
    }

    private static void unpin(Slab slab) {
        if (Cuda.cuMemHostUnregister(slab.hostAddress()) == CudaError.SUCCESS) {
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
        owner.accept(this);
    }
}
