// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.opencl;

import io.penstock.engine.spi.DeviceMemory;
import java.util.concurrent.atomic.AtomicLong;

/**
 * A buffer of a device: ours, or what the application has. The processor does not address it: what it may look at, and
 * when, is a matter of mapping.
 */
final class ClMemory implements DeviceMemory {

    static final AtomicLong LIVE = new AtomicLong();

    private final ClSpan span;
    private final long bytes;
    private final Runnable free;

    /**
     * Hands out a buffer.
     *
     * @param free takes it back
     */
    ClMemory(ClSpan span, long bytes, Runnable free) {
        this.span = span;
        this.bytes = bytes;
        this.free = free;
        LIVE.incrementAndGet();
    }

    ClSpan span() {
        return span;
    }

    @Override
    public long bytes() {
        return bytes;
    }

    @Override
    public long slack() {
        return span.bytes() - bytes;
    }

    @Override
    public long nativeHandle() {
        return span.handle();
    }

    @Override
    public long hostAddress() {
        return 0;
    }

    @Override
    public void free() {
        LIVE.decrementAndGet();
        free.run();
    }
}
