// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.kit;

import io.penstock.engine.spi.DeviceMemory;
import java.util.function.Function;

/**
 * The staging buffers of a context. A few are kept for the next user: drivers are slow to pin memory, and an upload
 * takes a staging buffer.
 *
 * <p><b>Threading:</b> thread-safe.
 *
 * <p><b>Ownership:</b> each buffer in use counts as a user of the context, and in {@link LiveObjects}; the pool owns
 * idle ones, and frees them with the context.
 *
 * @param <K> the kind of a buffer; buffers of equal kind are interchangeable
 * @param <B> the buffers
 */
public abstract class BufferPool<K, B extends DeviceMemory> implements SharedContext.Part {

    private static final long MOST_IDLE_BYTES = 16L << 20;

    private final SharedContext<?> context;
    private final Function<? super B, K> kindOf;
    private final IdleMemory<K, B> idle = new IdleMemory<>(MOST_IDLE_BYTES, DeviceMemory::bytes);

    /**
     * Creates an empty pool.
     *
     * @param kindOf returns the kind that a buffer was allocated for
     */
    protected BufferPool(SharedContext<?> context, Function<? super B, K> kindOf) {
        this.context = context;
        this.kindOf = kindOf;
    }

    /**
     * Allocates a buffer, which {@linkplain #give returns} here when it is freed.
     *
     * @throws io.penstock.TransientStorageException if there is no memory left
     */
    protected abstract B allocate(K kind);

    /** Frees a buffer, which nobody uses. */
    protected abstract void release(B buffer);

    /** Returns whether a returned buffer can serve another user; true unless overridden. */
    protected boolean isReusable(B buffer) {
        return true;
    }

    /**
     * Takes a buffer.
     *
     * @throws io.penstock.TransientStorageException if there is no memory left
     */
    public final B take(K kind) {
        context.join();
        try {
            B known = idle.take(kind);
            B buffer = known != null ? known : allocate(kind);
            LiveObjects.add(buffer.getClass());
            return buffer;
        } catch (RuntimeException | Error e) {
            context.leave();
            throw e;
        }
    }

    /** Takes back a buffer that is no longer used. */
    public final void give(B buffer) {
        LiveObjects.remove(buffer.getClass());
        if (!isReusable(buffer) || !idle.keep(kindOf.apply(buffer), buffer)) {
            release(buffer);
        }
        context.leave();
    }

    /** Frees the idle buffers; none is taken after this. */
    @Override
    public final void close() {
        idle.drain(this::release);
    }
}
