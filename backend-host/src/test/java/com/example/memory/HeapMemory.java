// SPDX-License-Identifier: Apache-2.0
package com.example.memory;

import io.penstock.Failure;
import io.penstock.TransientStorageException;
import io.penstock.engine.spi.DeviceMemory;
import java.nio.ByteBuffer;
import java.util.concurrent.atomic.AtomicLong;

/** Pages of heap ByteBuffers, made when they are first touched. */
final class HeapMemory implements DeviceMemory {

    static final AtomicLong LIVE = new AtomicLong();

    private static final int PAGE = 1 << 20;
    private static final AtomicLong HANDLES = new AtomicLong(4096);

    private final long bytes;
    private final long handle = HANDLES.getAndAdd(4096);
    private ByteBuffer[] pages;

    HeapMemory(long bytes) {
        if (bytes > 1L << 40) {
            throw new TransientStorageException("no " + bytes + " bytes of heap", Failure.NOT_STARTED, null);
        }
        this.bytes = bytes;
        this.pages = new ByteBuffer[(int) ((bytes + PAGE - 1) / PAGE)];
        LIVE.incrementAndGet();
    }

    synchronized void copy(long offset, ByteBuffer host, boolean in) {
        long at = offset;
        while (host.hasRemaining()) {
            int page = (int) (at / PAGE);
            int from = (int) (at % PAGE);
            int count = Math.min(PAGE - from, host.remaining());
            if (pages[page] == null) {
                pages[page] = ByteBuffer.allocate(PAGE);
            }
            if (in) {
                pages[page].put(from, host, host.position(), count);
            } else {
                host.put(host.position(), pages[page], from, count);
            }
            host.position(host.position() + count);
            at += count;
        }
    }

    @Override
    public long bytes() {
        return bytes;
    }

    @Override
    public long nativeHandle() {
        return handle;
    }

    @Override
    public long hostAddress() {
        return 0;
    }

    @Override
    public synchronized void free() {
        pages = new ByteBuffer[0];
        if (Fault.chosen() != Fault.FREE_NEVER_COUNTS) {
            LIVE.decrementAndGet();
        }
    }
}
