// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.cufile;

import io.penstock.backend.cufile.ffi.Cuda;
import io.penstock.backend.cufile.ffi.CudaError;
import io.penstock.engine.host.Slab;
import io.penstock.engine.host.Slabs;
import io.penstock.engine.spi.DeviceMemory;
import org.jspecify.annotations.Nullable;

/**
 * Pinned memory of the host that the GPU copies from and to, with an event of its own: at most one copy of a slot is
 * under way, so that nothing has to be found or made for one.
 */
final class PinnedSlot implements DeviceMemory {

    private final CudaContext context;
    private final Kind kind;
    private final @Nullable Slab own; // null where the memory is the driver's
    private final long address;
    private final CopyStreams streams;
    private long event; // written once

    /**
     * What slots may take each other's place.
     *
     * @param bytes of each
     * @param memory whose it is
     */
    record Kind(long bytes, SlotMemory memory) {}

    private PinnedSlot(CudaContext context, Kind kind, CopyStreams streams, @Nullable Slab own, long address) {
        this.context = context;
        this.kind = kind;
        this.streams = streams;
        this.own = own;
        this.address = address;
    }

    /** Makes one; its context is current. */
    static PinnedSlot allocate(CudaContext context, Kind kind, CopyStreams streams) {
        String request = request(kind);
        PinnedSlot slot = kind.memory == SlotMemory.OWN
                ? register(context, kind, streams, request)
                : pin(context, kind, streams, request);
        long[] one = new long[1];
        int result = Cuda.cuEventCreate(one, Cuda.CU_EVENT_DISABLE_TIMING);
        if (result != CudaError.SUCCESS) {
            slot.release();
            throw CudaFailure.exception(request, "cuEventCreate", result);
        }
        slot.event = one[0];
        return slot;
    }

    /** Returns what an allocation is called in errors. */
    static String request(Kind kind) {
        return "allocation of a pinned slot of " + kind.bytes + " bytes";
    }

    // Portable: pinned for all contexts, whichever is current where cuFile or another device looks at it.
    private static PinnedSlot pin(CudaContext context, Kind kind, CopyStreams streams, String request) {
        long[] address = new long[1];
        int result = Cuda.cuMemHostAlloc(address, kind.bytes, Cuda.CU_MEMHOSTALLOC_PORTABLE);
        CudaFailure.check(request, "cuMemHostAlloc", result);
        return new PinnedSlot(context, kind, streams, null, address[0]);
    }

    private static PinnedSlot register(CudaContext context, Kind kind, CopyStreams streams, String request) {
        Slab own = Slabs.shared().allocate(kind.bytes);
        int result = Cuda.cuMemHostRegister_v2(own.hostAddress(), kind.bytes, Cuda.CU_MEMHOSTREGISTER_PORTABLE);
        if (result != CudaError.SUCCESS) {
            own.free();
            throw CudaFailure.exception(request, "cuMemHostRegister", result);
        }
        return new PinnedSlot(context, kind, streams, own, own.hostAddress());
    }

    /** Gives it back to the driver; its context is current. */
    void release() {
        if (event != 0) {
            Cuda.cuEventDestroy_v2(event);
        }
        if (own == null) {
            Cuda.cuMemFreeHost(address);
        } else if (Cuda.cuMemHostUnregister(address) == CudaError.SUCCESS) {
            own.free(); // else the driver still knows these pages, and nobody else may have them
        }
    }

    /** Returns which others may take its place. */
    Kind kind() {
        return kind;
    }

    /** Returns the streams that it is copied on. */
    CopyStreams streams() {
        return streams;
    }

    long event() {
        return event;
    }

    @Override
    public long bytes() {
        return kind.bytes;
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
        context.slots().give(this);
    }
}
