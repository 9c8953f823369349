// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.kit.memory;

import io.penstock.ClosedException;
import io.penstock.Failure;
import io.penstock.engine.kit.ffi.ErrnoException;
import java.util.ArrayDeque;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The slabs of one size, cut from mappings of at least {@link #MIN_MAPPING_BYTES}; last in, first out, for warm caches.
 *
 * <p><b>Threading:</b> thread-safe; the lock is held at most for one map or unmap.
 */
final class SizeClass {

    private static final Logger LOG = LoggerFactory.getLogger(SizeClass.class);

    private static final long MIN_MAPPING_BYTES = 4L << 20;

    private final long blockBytes; // 0: every block is a separate mapping of the requested length
    private final AtomicLong mappedBytes;
    private final ArrayDeque<Block> free = new ArrayDeque<>(); // guarded by this
    private boolean closed; // guarded by this
    private long overwritten; // guarded by this

    SizeClass(long blockBytes, AtomicLong mappedBytes) {
        this.blockBytes = blockBytes;
        this.mappedBytes = mappedBytes;
    }

    synchronized Block take(long bytes) throws ErrnoException {
        if (closed) {
            throw new ClosedException("the pool of host memory is closed", Failure.NOT_STARTED, null);
        }
        if (free.isEmpty()) {
            map(blockBytes == 0 ? pages(bytes) : blockBytes);
        }
        Block block = free.pop();
        check(block);
        block.mapping.liveSlabs++;
        return block;
    }

    /** Rounds up to pages, but not beyond what a long holds. */
    private static long pages(long bytes) {
        long most = Long.MAX_VALUE & -Mapping.ALIGNMENT;
        return bytes >= most ? most : (bytes + Mapping.ALIGNMENT - 1) & -Mapping.ALIGNMENT;
    }

    synchronized void give(Block block) {
        free.push(block);
        block.mapping.liveSlabs--;
        if (block.mapping.liveSlabs == 0 && (closed || blockBytes == 0)) {
            retire(Set.of(block.mapping));
        }
    }

    synchronized void trim() {
        Set<Mapping> unused = new HashSet<>();
        for (Block block : free) {
            if (block.mapping.liveSlabs == 0) {
                unused.add(block.mapping);
            }
        }
        retire(unused);
    }

    synchronized void close() {
        closed = true;
        trim();
    }

    private void map(long size) throws ErrnoException {
        Mapping mapping = Mapping.map(blockBytes == 0 ? size : Math.max(size, MIN_MAPPING_BYTES));
        mappedBytes.addAndGet(mapping.bytes);
        for (long offset = mapping.bytes - size; offset >= 0; offset -= size) {
            free.push(new Block(mapping, offset, 0));
        }
    }

    /** Returns the number of blocks whose poison was found overwritten, including blocks that are free now. */
    synchronized long overwritten() {
        return overwritten + free.stream().filter(block -> !block.isIntact()).count();
    }

    private void check(Block block) {
        if (!block.isIntact()) {
            overwritten++;
            LOG.error(
                    "memory of {} bytes was written after it had been released: by code that kept a view beyond its lease",
                    block.poisoned);
        }
    }

    private void retire(Set<Mapping> mappings) {
        free.removeIf(block -> {
            boolean goes = mappings.contains(block.mapping);
            if (goes) {
                check(block);
            }
            return goes;
        });
        for (Mapping mapping : mappings) {
            mappedBytes.addAndGet(-mapping.bytes);
            mapping.retire();
        }
    }

    /**
     * The place of a slab in a mapping.
     *
     * @param poisoned how many of its bytes were poisoned when it was freed
     */
    record Block(Mapping mapping, long offset, long poisoned) {

        boolean isIntact() {
            return poisoned == 0 || mapping.isFilled(offset, poisoned, Slabs.POISON);
        }
    }
}
