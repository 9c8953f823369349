// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.host;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.util.Objects;

/**
 * A piece of page-aligned memory, taken from {@link Slabs}.
 *
 * <p><b>Ownership:</b> one owner, who calls {@link #free} when nothing native and no view uses the memory any more; a
 * second call does nothing, and the memory may by then be another slab's.
 */
public final class Slab implements HostMemory {
    private static final VarHandle FREED;

    static {
        try {
            FREED = MethodHandles.lookup().findVarHandle(Slab.class, "freed", boolean.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private final Slabs pool;
    private final Mapping mapping;
    private final long offset;
    private final long bytes;
    private volatile boolean freed;

    Slab(Slabs pool, Mapping mapping, long offset, long bytes) {
        this.pool = pool;
        this.mapping = mapping;
        this.offset = offset;
        this.bytes = bytes;
    }

    @Override
    public long bytes() {
        return bytes;
    }

    @Override
    public long hostAddress() {
        return mapping.address + offset;
    }

    @Override
    public ByteBuffer buffer(long from, int length) {
        if (freed) {
            throw new IllegalStateException("the slab has been freed");
        }
        Objects.checkFromIndexSize(from, length, bytes);
        return mapping.buffer(offset + from, length);
    }

    @Override
    public void free() {
        if (FREED.compareAndSet(this, false, true)) {
            pool.release(this);
        }
    }

    Mapping mapping() {
        return mapping;
    }

    long offset() {
        return offset;
    }
}
