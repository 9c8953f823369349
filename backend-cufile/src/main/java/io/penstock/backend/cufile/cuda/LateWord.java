// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.cufile.cuda;

import io.penstock.backend.cufile.ffi.Cuda;
import io.penstock.backend.cufile.ffi.CudaError;
import io.penstock.engine.kit.ElasticCalls;
import io.penstock.engine.kit.ffi.NativeMemory;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * The word of a {@code LateSize}: 64 bits of pinned memory, written by a kernel or the host and read by a stream. Freed
 * once it is closed and no operation reads it.
 *
 * <p><b>Threading:</b> thread-safe.
 */
public final class LateWord implements AutoCloseable {

    private static final int BYTES = 8;
    private static final VarHandle LONGS = MethodHandles.byteBufferViewVarHandle(long[].class, ByteOrder.nativeOrder());

    private final long context;
    private final long address;
    private final long device;
    private final ByteBuffer view;
    private final long unit;
    private int readers; // guarded by this, as closed is
    private boolean closed;

    private LateWord(long context, long address, long device, long unit) {
        this.context = context;
        this.address = address;
        this.device = device;
        this.view = NativeMemory.view(address, BYTES);
        this.unit = unit;
        set(0);
    }

    /**
     * Creates a word with value 0.
     *
     * @param unit what its values are multiples of
     * @throws io.penstock.PenstockException if no memory can be pinned
     */
    public static LateWord in(long context, long unit) {
        long[] address = new long[1];
        long[] device = new long[1];
        int flags = Cuda.CU_MEMHOSTALLOC_PORTABLE | Cuda.CU_MEMHOSTALLOC_DEVICEMAP;
        int result = CudaContext.in(context, () -> Cuda.cuMemHostAlloc(address, BYTES, flags));
        CudaFailure.check("a late-bound size", "cuMemHostAlloc", result);
        result = CudaContext.in(context, () -> Cuda.cuMemHostGetDevicePointer_v2(device, address[0], 0));
        if (result != CudaError.SUCCESS) {
            free(context, address[0]);
            throw CudaFailure.exception("a late-bound size", "cuMemHostGetDevicePointer", result);
        }
        return new LateWord(context, address[0], device[0], unit);
    }

    /** Returns the CUdeviceptr of the word, for kernels. */
    public long deviceAddress() {
        return device;
    }

    /** Sets the word, visible to a stream that reads it after this call. */
    public void set(long bytes) {
        LONGS.setRelease(view, 0, bytes);
    }

    /** Returns what its values are multiples of: 1, or the size of a block. */
    public long unit() {
        return unit;
    }

    /** Returns the address of the word for the host and for streams. */
    public long address() {
        return address;
    }

    public synchronized boolean isClosed() {
        return closed;
    }

    /** Keeps the word until {@link #leave}; returns false if it is already freed. */
    public synchronized boolean enter() {
        if (!closed) {
            readers++;
        }
        return !closed;
    }

    /** Releases the word; does not block. */
    public void leave() {
        boolean last;
        synchronized (this) {
            last = --readers == 0 && closed;
        }
        if (last) {
            ElasticCalls.run(() -> free(context, address)); // waits for the device
        }
    }

    @Override
    public void close() {
        boolean last;
        synchronized (this) {
            last = !closed && readers == 0;
            closed = true;
        }
        if (last) {
            free(context, address);
        }
    }

    private static void free(long context, long address) {
        CudaContext.in(context, () -> Cuda.cuMemFreeHost(address));
    }
}
