// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.cufile;

import io.penstock.backend.cufile.ffi.Cuda;
import io.penstock.backend.cufile.ffi.CudaError;
import io.penstock.engine.spi.DeviceMemory;

/**
 * Pinned memory of the host that the GPU copies from and to, with a stream and an event of its own: at most one copy
 * of a slot is under way, so that nothing has to be found or made for one.
 */
final class PinnedSlot implements DeviceMemory {

    private final CudaContext context;
    private final long address;
    private final long bytes;
    private final long stream;
    private final long event;

    private PinnedSlot(CudaContext context, long address, long bytes, long stream, long event) {
        this.context = context;
        this.address = address;
        this.bytes = bytes;
        this.stream = stream;
        this.event = event;
    }

    /** Makes one; its context is current. */
    static PinnedSlot allocate(CudaContext context, long bytes) {
        String request = "allocation of a pinned slot of " + bytes + " bytes";
        long[] made = new long[3];
        long[] one = new long[1];
        // Portable: pinned for all contexts, whichever is current where cuFile or another device looks at it.
        int result = Cuda.cuMemHostAlloc(one, bytes, Cuda.CU_MEMHOSTALLOC_PORTABLE);
        CudaFailure.check(request, "cuMemHostAlloc", result);
        made[0] = one[0];
        String call = "cuStreamCreate";
        result = Cuda.cuStreamCreate(one, Cuda.CU_STREAM_NON_BLOCKING);
        if (result == CudaError.SUCCESS) {
            made[1] = one[0];
            call = "cuEventCreate";
            result = Cuda.cuEventCreate(one, Cuda.CU_EVENT_DISABLE_TIMING);
        }
        made[2] = result == CudaError.SUCCESS ? one[0] : 0;
        PinnedSlot slot = new PinnedSlot(context, made[0], bytes, made[1], made[2]);
        if (result != CudaError.SUCCESS) {
            slot.release();
            throw CudaFailure.exception(request, call, result);
        }
        return slot;
    }

    /** Gives it back to the driver; its context is current. */
    void release() {
        if (event != 0) {
            Cuda.cuEventDestroy_v2(event);
        }
        if (stream != 0) {
            Cuda.cuStreamDestroy_v2(stream);
        }
        Cuda.cuMemFreeHost(address);
    }

    long stream() {
        return stream;
    }

    long event() {
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
        context.slots().give(this);
    }
}
