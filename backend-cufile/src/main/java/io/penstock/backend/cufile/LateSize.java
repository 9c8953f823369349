// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.cufile;

import io.penstock.backend.cufile.ffi.Cuda;
import io.penstock.backend.cufile.ffi.CudaError;
import io.penstock.engine.spi.ffi.NativeMemory;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import reactor.core.scheduler.Schedulers;

/**
 * How many bytes a transfer that a {@link CudaStream} carries is to read, found out by what stands in the stream before
 * it: a kernel writes the 64-bit word at {@link #nativeHandle()}, or the host calls {@link #set}. The stream reads it
 * when it comes to the transfer.
 *
 * <p><b>Result:</b> the completion's bytes are what was read. What the target has behind them is undefined.
 *
 * <p><b>Ownership:</b> whoever made it closes it, once the transfers that read it are enqueued: the word stays until the
 * stream has passed these.
 */
public final class LateSize implements AutoCloseable {

    private static final int BYTES = 8;
    private static final VarHandle LONGS = MethodHandles.byteBufferViewVarHandle(long[].class, ByteOrder.nativeOrder());

    private final long context;
    private final long address;
    private final long device;
    private final ByteBuffer view;
    private int readers; // guarded by this, as closed is
    private boolean closed;

    private LateSize(long context, long address, long device) {
        this.context = context;
        this.address = address;
        this.device = device;
        this.view = NativeMemory.view(address, BYTES);
        set(0);
    }

    /**
     * Makes one, of 0 bytes.
     *
     * @throws io.penstock.PenstockException if no memory can be pinned
     */
    static LateSize in(long context) {
        long[] address = new long[1];
        long[] device = new long[1];
        int flags = Cuda.CU_MEMHOSTALLOC_PORTABLE | Cuda.CU_MEMHOSTALLOC_DEVICEMAP;
        int result = CudaScope.in(context, () -> Cuda.cuMemHostAlloc(address, BYTES, flags));
        CudaFailure.check("a size that is known late", "cuMemHostAlloc", result);
        result = CudaScope.in(context, () -> Cuda.cuMemHostGetDevicePointer_v2(device, address[0], 0));
        if (result != CudaError.SUCCESS) {
            free(context, address[0]);
            throw CudaFailure.exception("a size that is known late", "cuMemHostGetDevicePointer", result);
        }
        return new LateSize(context, address[0], device[0]);
    }

    /** Returns the CUdeviceptr of the word, for kernels. */
    public long nativeHandle() {
        return device;
    }

    /** Sets the word; seen by a stream that comes to the transfer after this. */
    public void set(long bytes) {
        LONGS.setRelease(view, 0, bytes);
    }

    long address() {
        return address;
    }

    synchronized boolean isClosed() {
        return closed;
    }

    /** Keeps the word until {@link #leave}; false if it is gone. */
    synchronized boolean enter() {
        if (!closed) {
            readers++;
        }
        return !closed;
    }

    /** Lets go of the word; does not block. */
    void leave() {
        boolean last;
        synchronized (this) {
            last = --readers == 0 && closed;
        }
        if (last) {
            Schedulers.boundedElastic().schedule(() -> free(context, address)); // which waits for the device
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
        CudaScope.in(context, () -> Cuda.cuMemFreeHost(address));
    }
}
