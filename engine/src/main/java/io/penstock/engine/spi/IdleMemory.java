// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.spi;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.ToLongFunction;
import org.jspecify.annotations.Nullable;

/**
 * Memory that was given back, kept for the next request of its kind: drivers take long to make it and to free it.
 *
 * <p><b>Threading:</b> thread-safe. It frees nothing itself, so that nothing waits for a driver while it is locked.
 *
 * <p><b>Ownership:</b> what it keeps is its own until it hands that out again.
 *
 * @param <K> says which memory may take the place of which: a size, or more
 * @param <M> the memory
 */
public final class IdleMemory<K, M> {

    private final long mostBytes;
    private final ToLongFunction<? super M> bytes;
    private final Map<K, ArrayDeque<M>> idle = new HashMap<>(); // guarded by this, as idleBytes is
    private long idleBytes;

    /**
     * Makes one that is empty.
     *
     * @param mostBytes how much it keeps
     * @param bytes tells how large a piece of memory is
     */
    public IdleMemory(long mostBytes, ToLongFunction<? super M> bytes) {
        this.mostBytes = mostBytes;
        this.bytes = bytes;
    }

    /** Hands out what was kept last of a kind, or null. */
    public synchronized @Nullable M take(K kind) {
        ArrayDeque<M> fitting = idle.get(kind);
        M memory = fitting == null ? null : fitting.poll();
        idleBytes -= memory == null ? 0 : bytes.applyAsLong(memory);
        return memory;
    }

    /** Keeps memory that nothing uses any more; false if that would be too much, and the caller is to free it. */
    public synchronized boolean keep(K kind, M memory) {
        long more = bytes.applyAsLong(memory);
        if (idleBytes + more > mostBytes) {
            return false;
        }
        idleBytes += more;
        idle.computeIfAbsent(kind, none -> new ArrayDeque<>()).push(memory);
        return true;
    }

    /** Hands out all that it keeps, to be freed. */
    public void drain(Consumer<? super M> free) {
        List<M> all = new ArrayList<>();
        synchronized (this) {
            idle.values().forEach(all::addAll);
            idle.clear();
            idleBytes = 0;
        }
        all.forEach(free);
    }
}
