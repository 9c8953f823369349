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
 * Or large slabs, each a mapping of its own, of which some are kept when they are free: the kernel takes as long to fill
 * new memory with zeros as a read from the page cache takes.
 *
 * <p><b>Threading:</b> thread-safe; the lock is held at most for one map or unmap.
 */
final class SizeClass {

    private static final Logger LOG = LoggerFactory.getLogger(SizeClass.class);

    private static final long MIN_MAPPING_BYTES = 4L << 20;
    private static final int MOST_SPARE = 4; // a fourth of the bytes

    private final long blockBytes; // 0: every block is a separate mapping, of at least the requested length
    private final long mostIdleBytes; // of those
    private final AtomicLong mappedBytes;
    private final ArrayDeque<Block> free = new ArrayDeque<>(); // guarded by this
    private boolean closed; // guarded by this
    private long overwritten; // guarded by this

    private SizeClass(long blockBytes, long mostIdleBytes, AtomicLong mappedBytes) {
        this.blockBytes = blockBytes;
        this.mostIdleBytes = mostIdleBytes;
        this.mappedBytes = mappedBytes;
    }

    /** Creates the class of blocks of one size. */
    static SizeClass of(long blockBytes, AtomicLong mappedBytes) {
        return new SizeClass(blockBytes, 0, mappedBytes);
    }

    /** Creates the class of large blocks, of which free ones are kept, and no more of them than that many bytes. */
    static SizeClass large(long mostIdleBytes, AtomicLong mappedBytes) {
        return new SizeClass(0, mostIdleBytes, mappedBytes);
    }

    synchronized Block take(long bytes) throws ErrnoException {
        if (closed) {
            throw new ClosedException("the pool of host memory is closed", Failure.NOT_STARTED, null);
        }
        Block block = blockBytes == 0 ? large(pages(bytes)) : block();
        check(block);
        block.mapping.liveSlabs++;
        return block;
    }

    private Block block() throws ErrnoException {
        if (free.isEmpty()) {
            map(blockBytes);
        }
        return free.pop();
    }

    /** Returns a block that is free and not much longer, or a new one. */
    private Block large(long bytes) throws ErrnoException {
        for (Block block : free) {
            long spare = block.mapping.bytes - bytes;
            if (spare >= 0 && spare <= bytes / MOST_SPARE) {
                free.remove(block);
                return block;
            }
        }
        try {
            map(bytes);
        } catch (ErrnoException none) {
            if (free.isEmpty()) {
                throw none;
            }
            trim(); // what is kept may be what is missing
            map(bytes);
        }
        return free.pop();
    }

    /** Rounds up to pages, but not beyond what a long holds. */
    private static long pages(long bytes) {
        long most = Long.MAX_VALUE & -Mapping.ALIGNMENT;
        return bytes >= most ? most : (bytes + Mapping.ALIGNMENT - 1) & -Mapping.ALIGNMENT;
    }

    synchronized void give(Block block) {
        free.push(block);
        block.mapping.liveSlabs--;
        if (closed && block.mapping.liveSlabs == 0) {
            retire(Set.of(block.mapping));
        } else if (blockBytes == 0) {
            keep(block);
        }
    }

    /** Keeps a block that is free, but leaves its pages to the kernel where that needs them; unmaps the oldest. */
    private void keep(Block block) {
        if (block.mapping.bytes > mostIdleBytes) {
            retire(Set.of(block.mapping));
            return;
        }
        if (block.poisoned == 0) { // else the poison would be lost
            block.mapping.giveUp();
        }
        long idle = free.stream().mapToLong(kept -> kept.mapping.bytes).sum();
        while (idle > mostIdleBytes) {
            Mapping oldest = free.getLast().mapping;
            idle -= oldest.bytes;
            retire(Set.of(oldest));
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
