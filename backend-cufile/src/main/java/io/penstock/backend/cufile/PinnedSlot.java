// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.cufile;

import io.penstock.backend.cufile.ffi.Cuda;
import io.penstock.backend.cufile.ffi.CudaError;
import io.penstock.engine.spi.DeviceMemory;

/**
 * Pinned memory of the host that the GPU copies from and to, with a stream, an event and a word of its own: at most one
 * copy of a slot is under way, so that nothing has to be found or made for one.
 */
final class PinnedSlot implements DeviceMemory {

    /** A look at the word costs nothing, and a stream whose context has broken writes no more words. */
    private static final int LOOKS_TO_A_DOUBT = 64;

    private final CudaContext context;
    private final long address;
    private final long bytes;
    private final long stream;
    private final long event;
    private final PassedWord word;
    private int number; // among those of the context; PinnedSlots' until it is handed out
    private long busy; // the stream of the copy under way
    private boolean byEvent; // whether the event tells its end; else the word
    private int looks; // at the copy under way

    private PinnedSlot(CudaContext context, long address, long bytes, long[] made) {
        this.context = context;
        this.address = address;
        this.bytes = bytes;
        this.stream = made[0];
        this.event = made[1];
        this.word = PassedWord.at(address + wordOffset(bytes));
    }

    private static long wordOffset(long bytes) {
        return (bytes + PassedWord.BYTES - 1) & -PassedWord.BYTES;
    }

    /** Makes one; its context is current. */
    static PinnedSlot allocate(CudaContext context, long bytes) {
        String request = "allocation of a pinned slot of " + bytes + " bytes";
        long[] made = new long[2];
        long[] one = new long[1];
        // Portable: pinned for all contexts, whichever is current where cuFile or another device looks at it.
        int flags = Cuda.CU_MEMHOSTALLOC_PORTABLE | Cuda.CU_MEMHOSTALLOC_DEVICEMAP;
        int result = Cuda.cuMemHostAlloc(one, wordOffset(bytes) + PassedWord.BYTES, flags);
        CudaFailure.check(request, "cuMemHostAlloc", result);
        long address = one[0];
        String call = "cuStreamCreate";
        result = Cuda.cuStreamCreate(one, Cuda.CU_STREAM_NON_BLOCKING);
        if (result == CudaError.SUCCESS) {
            made[0] = one[0];
            call = "cuEventCreate";
            result = Cuda.cuEventCreate(one, Cuda.CU_EVENT_DISABLE_TIMING);
        }
        made[1] = result == CudaError.SUCCESS ? one[0] : 0;
        PinnedSlot slot = new PinnedSlot(context, address, bytes, made);
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

    int number() {
        return number;
    }

    void number(int among) {
        number = among;
    }

    /**
     * Marks the end of the copy that was put into a stream just now; answers a {@code CUresult}.
     *
     * @param joins whether other work is to wait for it on the GPU, which takes the event
     */
    int mark(long copied, boolean joins) {
        busy = copied;
        looks = 0;
        byEvent = joins || !word.follow(copied);
        return byEvent ? Cuda.cuEventRecord(event, copied) : CudaError.SUCCESS;
    }

    /** Returns whether the copy is seen to have ended, without a call; false where only the driver can tell. */
    boolean hasPassed() {
        return !byEvent && word.isWritten();
    }

    /** Returns whether {@link #hasPassed} will tell of the end, unless the context breaks. */
    boolean tells() {
        return !byEvent;
    }

    /** Returns whether the driver is to be asked once more: now and then only where the word will tell. */
    boolean isDoubtful() {
        return byEvent || ++looks % LOOKS_TO_A_DOUBT == 0;
    }

    /** Asks the driver about the copy; answers a {@code CUresult}. */
    int query() {
        return byEvent ? Cuda.cuEventQuery(event) : Cuda.cuStreamQuery(busy);
    }

    /** Waits for the copy, however long that takes. */
    void synchronize() {
        if (byEvent) {
            Cuda.cuEventSynchronize(event);
        } else {
            Cuda.cuStreamSynchronize(busy);
        }
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
