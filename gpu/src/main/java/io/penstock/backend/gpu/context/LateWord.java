// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.gpu.context;

import io.penstock.backend.gpu.api.DriverApi;
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

    private final DriverApi driver;
    private final long context;
    private final long address;
    private final long device;
    private final ByteBuffer view;
    private final long unit;
    private int readers; // guarded by this, as closed is
    private boolean closed;

    private LateWord(DriverApi driver, long context, long address, long device, long unit) {
        this.driver = driver;
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
    static LateWord in(DriverApi driver, long context, long unit) {
        long[] address = new long[1];
        long[] device = new long[1];
        int flags = DriverApi.HOST_PORTABLE | DriverApi.HOST_MAPPED;
        int result = driver.in(context, () -> driver.memHostAlloc(address, BYTES, flags));
        driver.check("a late-bound size", "memHostAlloc", result);
        result = driver.in(context, () -> driver.memHostGetDevicePointer(device, address[0], 0));
        if (result != DriverApi.SUCCESS) {
            driver.in(context, () -> driver.memFreeHost(address[0]));
            throw driver.exception("a late-bound size", "memHostGetDevicePointer", result);
        }
        return new LateWord(driver, context, address[0], device[0], unit);
    }

    /** Returns the device pointer of the word, for kernels. */
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
            ElasticCalls.run(this::free); // waits for the device
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
            free();
        }
    }

    private void free() {
        driver.in(context, () -> driver.memFreeHost(address));
    }
}
