// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.host.staged;

import io.penstock.engine.spi.DeviceMemory;
import java.util.Arrays;
import java.util.concurrent.atomic.AtomicLong;

/** Memory that only copies reach; in parts, since rules use buffers of more than 2 GiB sparsely. */
final class CardMemory implements DeviceMemory {

    static final AtomicLong LIVE = new AtomicLong();

    private static final AtomicLong HANDLES = new AtomicLong(0x1000);
    private static final int PART = 1 << 20;

    private final long handle = HANDLES.getAndAdd(0x1000);
    private final long bytes;
    private final byte[][] parts;
    private volatile boolean freed;

    CardMemory(long bytes) {
        this.bytes = bytes;
        this.parts = new byte[(int) ((bytes + PART - 1) / PART)][];
        LIVE.incrementAndGet();
    }

    /** Copies between the card and an array; must not be called after {@link #free}. */
    synchronized void copy(boolean in, long offset, byte[] host) {
        if (freed) {
            throw new AssertionError("a copy of " + host.length + " bytes touches memory that was freed");
        }
        for (int done = 0; done < host.length; ) {
            long at = offset + done;
            byte[] part = part((int) (at / PART));
            int start = (int) (at % PART);
            int count = Math.min(PART - start, host.length - done);
            if (in) {
                System.arraycopy(host, done, part, start, count);
            } else {
                System.arraycopy(part, start, host, done, count);
            }
            done += count;
        }
    }

    private byte[] part(int index) {
        if (parts[index] == null) {
            parts[index] = new byte[PART];
        }
        return parts[index];
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
        freed = true;
        Arrays.fill(parts, null);
        LIVE.decrementAndGet();
    }
}
