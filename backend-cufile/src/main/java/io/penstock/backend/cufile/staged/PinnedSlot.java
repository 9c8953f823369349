// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.cufile.staged;

import io.penstock.backend.cufile.cuda.CudaFailure;
import io.penstock.backend.cufile.ffi.Cuda;
import io.penstock.backend.cufile.ffi.CudaError;
import io.penstock.engine.spi.DeviceMemory;
import java.util.function.Consumer;

/**
 * Pinned memory of the host that the GPU copies from and to, with an event of its own: at most one copy of a slot is
 * under way, so that nothing has to be found or made for one.
 */
public final class PinnedSlot implements DeviceMemory {

    private final Consumer<PinnedSlot> owner;
    private final CopyStreams streams;
    private final long bytes;
    private final long address;
    private final long event;

    private PinnedSlot(Consumer<PinnedSlot> owner, CopyStreams streams, long bytes, long address, long event) {
        this.owner = owner;
        this.streams = streams;
        this.bytes = bytes;
        this.address = address;
        this.event = event;
    }

    /** Makes one, which {@code owner} takes back when it is freed; its context is current. */
    static PinnedSlot allocate(Consumer<PinnedSlot> owner, CopyStreams streams, long bytes) {
        String request = "allocation of a pinned slot of " + bytes + " bytes";
        long[] address = new long[1];
        // Portable: pinned for all contexts, whichever is current where cuFile or another device looks at it.
        int result = Cuda.cuMemHostAlloc(address, bytes, Cuda.CU_MEMHOSTALLOC_PORTABLE);
        CudaFailure.check(request, "cuMemHostAlloc", result);
        long[] event = new long[1];
        result = Cuda.cuEventCreate(event, Cuda.CU_EVENT_DISABLE_TIMING);
        if (result != CudaError.SUCCESS) {
            Cuda.cuMemFreeHost(address[0]);
            throw CudaFailure.exception(request, "cuEventCreate", result);
        }
        return new PinnedSlot(owner, streams, bytes, address[0], event[0]);
    }

    /** Gives it back to the driver; its context is current. */
    void release() {
        Cuda.cuEventDestroy_v2(event);
        Cuda.cuMemFreeHost(address);
    }

    /** Returns the streams that it is copied on. */
    public CopyStreams streams() {
        return streams;
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
