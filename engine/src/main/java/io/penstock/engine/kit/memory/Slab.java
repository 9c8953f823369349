// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.kit.memory;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.util.Objects;
import java.util.function.Consumer;

/**
 * A block of page-aligned memory from {@link Slabs}.
 *
 * <p><b>Ownership:</b> one owner, which calls {@link #free} when no native code and no view uses the memory any more. A
 * second call does nothing; the memory may by then belong to another slab.
 */
public final class Slab implements HostMemory, MappedMemory {
    private static final VarHandle FREED;

    static {
        try {
            FREED = MethodHandles.lookup().findVarHandle(Slab.class, "freed", boolean.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private final Consumer<Slab> pool; // takes it back
    private final Mapping pages;
    private final long offset;
    private final long bytes;
    private volatile boolean freed;

    Slab(Consumer<Slab> pool, Mapping pages, long offset, long bytes) {
        this.pool = pool;
        this.pages = pages;
        this.offset = offset;
        this.bytes = bytes;
    }

    @Override
    public long bytes() {
        return bytes;
    }

    @Override
    public long hostAddress() {
        return pages.address + offset;
    }

    @Override
    public ByteBuffer buffer(long from, int length) {
        if (freed) {
            throw new IllegalStateException("the slab has been freed");
        }
        Objects.checkFromIndexSize(from, length, bytes);
        return pages.buffer(offset + from, length);
    }

    @Override
    public void free() {
        if (FREED.compareAndSet(this, false, true)) {
            pool.accept(this);
        }
    }

    @Override
    public MemoryMapping mapping() {
        return pages.range;
    }

    Mapping pages() {
        return pages;
    }

    long offset() {
        return offset;
    }
}
