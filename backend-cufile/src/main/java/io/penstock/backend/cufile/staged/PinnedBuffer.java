// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.cufile.staged;

import io.penstock.backend.cufile.cuda.CudaFailure;
import io.penstock.backend.cufile.ffi.Cuda;
import io.penstock.backend.cufile.ffi.CudaError;
import io.penstock.engine.spi.DeviceMemory;
import io.penstock.engine.spi.Pause;
import java.util.function.Consumer;

/**
 * Pinned host memory that the GPU copies from and to, with its own event: at most one copy per staging buffer is in
 * flight, so that a copy needs no lookup and no allocation.
 */
public final class PinnedBuffer implements DeviceMemory {

    private final Consumer<PinnedBuffer> owner;
    private final CopyStreams streams;
    private final long bytes;
    private final long address;
    private final long event;

    // For the thread that waits for a copy. With a dozen threads a staging buffer waits some 400 us for the link. Polls
    // take a driver lock, which threads that start copies also need.
    private final Pause pause = new Pause().gaps(3_000, 500_000).naps(20_000, 20_000);

    private PinnedBuffer(Consumer<PinnedBuffer> owner, CopyStreams streams, long bytes, long address, long event) {
        this.owner = owner;
        this.streams = streams;
        this.bytes = bytes;
        this.address = address;
        this.event = event;
    }

    /** Allocates a buffer, which is returned to {@code owner} when it is freed; its context must be current. */
    static PinnedBuffer allocate(Consumer<PinnedBuffer> owner, CopyStreams streams, long bytes) {
        String request = "allocation of a pinned staging buffer of " + bytes + " bytes";
        long[] address = new long[1];
        // Portable: pinned for all contexts, whichever is current where cuFile or another device uses it.
        int result = Cuda.cuMemHostAlloc(address, bytes, Cuda.CU_MEMHOSTALLOC_PORTABLE);
        CudaFailure.check(request, "cuMemHostAlloc", result);
        long[] event = new long[1];
        result = Cuda.cuEventCreate(event, Cuda.CU_EVENT_DISABLE_TIMING);
        if (result != CudaError.SUCCESS) {
            Cuda.cuMemFreeHost(address[0]);
            throw CudaFailure.exception(request, "cuEventCreate", result);
        }
        return new PinnedBuffer(owner, streams, bytes, address[0], event[0]);
    }

    /** Frees it; its context must be current. */
    void release() {
        Cuda.cuEventDestroy_v2(event);
        Cuda.cuMemFreeHost(address);
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
        return bytes;
    }

    @Override
    public long nativeHandle() {
        return address;
    }

    @Override
    public long hostAddress() {
        return address;
    }

    @Override
    public void free() {
        owner.accept(this);
    }
}
