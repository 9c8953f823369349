// SPDX-License-Identifier: Apache-2.0
package com.example.memory;

import io.penstock.Failure;
import io.penstock.TransientStorageException;
import io.penstock.engine.spi.DeviceMemory;
import java.nio.ByteBuffer;
import java.util.concurrent.atomic.AtomicLong;

/** One buffer's memory; the engine frees it when no transfer uses it any more. */
class HeapMemory implements DeviceMemory {

    static final AtomicLong LIVE = new AtomicLong(); // counted for the TCK, which looks for leaks
    private static final AtomicLong HANDLES = new AtomicLong();

    private final ByteBuffer bytes;
    private final long handle = HANDLES.incrementAndGet();

    HeapMemory(long bytes) {
        if (bytes > Math.min(Integer.MAX_VALUE - 8, Runtime.getRuntime().maxMemory() / 4)) {
            throw new TransientStorageException("no " + bytes + " bytes of heap", Failure.NOT_STARTED, null);
        }
        this.bytes = ByteBuffer.allocate((int) bytes);
        LIVE.incrementAndGet();
    }

    ByteBuffer at(long offset, long length) {
        return bytes.slice((int) offset, (int) length);
    }

    @Override
    public long bytes() {
        return bytes.capacity();
    }

    @Override
    public long nativeHandle() {
        return handle; // no two memories of a device have the same
    }

    @Override
    public long hostAddress() {
        return 0; // the processor reaches it by copies only
    }

    @Override
    public void free() {
        LIVE.decrementAndGet();
    }
}
