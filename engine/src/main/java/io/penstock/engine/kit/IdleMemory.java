// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.kit;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.ToLongFunction;
import org.jspecify.annotations.Nullable;

/**
 * A cache of freed memory, kept for the next allocation of its kind: drivers are slow to allocate and to free memory.
 *
 * <p><b>Threading:</b> thread-safe. Frees nothing itself, so that no thread waits for a driver under the lock.
 *
 * <p><b>Ownership:</b> owns what it keeps until it returns it.
 *
 * @param <K> the kind of memory; blocks of equal kind are interchangeable
 * @param <M> the memory
 */
public final class IdleMemory<K, M> {

    private final long mostBytes;
    private final ToLongFunction<? super M> bytes;
    private final Map<K, ArrayDeque<M>> idle = new HashMap<>(); // guarded by this, as idleBytes is
    private long idleBytes;

    /**
     * Creates an empty cache.
     *
     * @param mostBytes the most bytes that it keeps
     * @param bytes returns the size of a block of memory
     */
    public IdleMemory(long mostBytes, ToLongFunction<? super M> bytes) {
        this.mostBytes = mostBytes;
        this.bytes = bytes;
    }

    /** Returns the most recently kept block of a kind, or null. */
    public synchronized @Nullable M take(K kind) {
        ArrayDeque<M> fitting = idle.get(kind);
        M memory = fitting == null ? null : fitting.poll();
        idleBytes -= memory == null ? 0 : bytes.applyAsLong(memory);
        return memory;
    }

    /** Keeps unused memory. Returns false if that would exceed the limit; the caller then frees it. */
    public synchronized boolean keep(K kind, M memory) {
        long more = bytes.applyAsLong(memory);
        if (idleBytes + more > mostBytes) {
            return false;
        }
        idleBytes += more;
        idle.computeIfAbsent(kind, none -> new ArrayDeque<>()).push(memory);
        return true;
    }

    /** Removes everything that it keeps, and passes it to {@code free}. */
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
