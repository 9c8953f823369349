// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.opencl.memory;

import io.penstock.backend.opencl.context.ClContext;
import io.penstock.engine.kit.LiveObjects;
import io.penstock.engine.spi.DeviceMemory;

/**
 * A buffer of a device, allocated by Penstock or by the application. The processor does not address it, except while it
 * is mapped.
 */
public final class ClMemory implements DeviceMemory {

    private final ClContext context;
    private final ClSpan span;
    private final long bytes;
    private final Runnable free;

    /**
     * Creates memory from a buffer.
     *
     * @param free returns it to its owner
     */
    public ClMemory(ClContext context, ClSpan span, long bytes, Runnable free) {
        this.context = context;
        this.span = span;
        this.bytes = bytes;
        this.free = free;
        LiveObjects.add(ClMemory.class);
    }

    /** Returns the context that it belongs to. */
    public ClContext context() {
        return context;
    }

    public ClSpan span() {
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
        LiveObjects.remove(ClMemory.class);
        free.run();
    }
}
