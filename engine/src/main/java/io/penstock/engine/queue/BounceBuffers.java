// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.queue;

import io.penstock.engine.resource.BufferFile;
import io.penstock.engine.spi.AsyncFile;
import io.penstock.engine.spi.DeviceMemory;
import io.penstock.engine.spi.IoPath;
import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The bounce buffers of an I/O queue: for each path some small ones, for the edges of blocks, and as many large ones,
 * for files that fill memory by themselves. Allocated at their first use, and kept. The I/O thread only.
 */
final class BounceBuffers {

    /** The bytes of a small one. */
    static final long EDGE_BYTES = 256 << 10;

    private static final class Pool {
        final ArrayDeque<DeviceMemory> free = new ArrayDeque<>();
        int allocated;
    }

    private final int most; // of one pool
    private final Map<IoPath, Pool> edges = new HashMap<>();
    private final Map<IoPath, Pool> ranges = new HashMap<>();
    private final ArrayDeque<Segment> waiting = new ArrayDeque<>();

    BounceBuffers(int most) {
        this.most = most;
    }

    /**
     * Gives a segment a bounce buffer; if there is none it waits, until {@link #give} returns it.
     *
     * @return whether it has one
     * @throws RuntimeException if none can be allocated
     */
    boolean takeOrWait(Segment segment) {
        Pool pool = pool(segment);
        DeviceMemory buffer = pool.free.poll();
        if (buffer == null && pool.allocated < most) {
            long bytes = isRange(segment) ? AsyncFile.RANGE_BYTES : EDGE_BYTES;
            buffer = segment.owner().ioPath().allocateBounceBuffer(bytes);
            pool.allocated++;
        }
        if (buffer == null) {
            waiting.add(segment);
            return false;
        }
        segment.cover.buffer = buffer;
        return true;
    }

    /**
     * Takes back the bounce buffer of a segment, if it has one; returns a segment that has waited for it, and waits no
     * more.
     */
    @Nullable
    Segment give(Segment segment) {
        DeviceMemory buffer = segment.cover.buffer;
        if (buffer == null) {
            return null;
        }
        segment.cover.buffer = null;
        Pool pool = pool(segment);
        pool.free.add(buffer);
        for (Segment next : waiting) {
            if (pool(next) == pool) {
                waiting.remove(next);
                return next;
            }
        }
        return null;
    }

    /** Removes a segment from those that wait. */
    void forget(Segment segment) {
        waiting.remove(segment);
    }

    /** Returns the number of segments that wait. */
    int waiting() {
        return waiting.size();
    }

    private static boolean isRange(Segment segment) {
        return segment.async != null && !(segment.async instanceof BufferFile.Source);
    }

    private Pool pool(Segment segment) {
        return (isRange(segment) ? ranges : edges)
                .computeIfAbsent(segment.owner().ioPath(), path -> new Pool());
    }

    /** Frees the buffers; nothing may be in flight. */
    void close() {
        for (Map<IoPath, Pool> pools : List.of(edges, ranges)) {
            pools.values().forEach(pool -> pool.free.forEach(DeviceMemory::free));
            pools.clear();
        }
    }
}
