// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.host;

import io.penstock.CommonOptions;
import io.penstock.Failure;
import io.penstock.Outcome;
import io.penstock.TransientStorageException;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Page-aligned memory in powers of two from 4 KiB to 64 MiB, kept for reuse; what is larger is mapped and unmapped on
 * its own.
 *
 * <p>The content of a slab is undefined: zeros, or what an earlier slab of this process held, never another process'.
 *
 * <p><b>Threading:</b> thread-safe.
 *
 * <p><b>Ownership:</b> {@link #close} gives back what is free; each slab that is still out keeps its mapping until it
 * is freed, and is counted in {@link #liveSlabs()}.
 */
public final class Slabs implements AutoCloseable {
    /** The smallest size class, and the alignment of every slab. */
    public static final int MIN_BYTES = Mapping.ALIGNMENT;
    /** The largest size class. */
    public static final long MAX_POOLED_BYTES = 64L << 20;
    /** What a freed slab is filled with where poisoning is on. */
    public static final byte POISON = (byte) 0xDB;

    private final SizeClass[] classes;
    private final SizeClass unpooled;
    private final boolean poison;
    private final AtomicLong liveSlabs = new AtomicLong();
    private final AtomicLong liveBytes = new AtomicLong();
    private final AtomicLong mappedBytes = new AtomicLong();

    /** The pool of the process; a holder, so that it is made on first use. */
    private static final class Shared {
        static final Slabs SLABS = new Slabs(Boolean.getBoolean(CommonOptions.POISON.name())
                || Boolean.parseBoolean(System.getenv(CommonOptions.POISON.variable())));
    }

    /** Returns the pool that all backends of the process share; nobody closes it. */
    public static Slabs shared() {
        return Shared.SLABS;
    }

    /** Makes an empty pool. */
    public Slabs() {
        this(false);
    }

    /**
     * Makes an empty pool.
     *
     * @param poison whether freed slabs are filled with {@link #POISON}, so that a late reader sees it; for tests
     */
    public Slabs(boolean poison) {
        this.poison = poison;
        classes = new SizeClass[classOf(MAX_POOLED_BYTES) + 1];
        for (int i = 0; i < classes.length; i++) {
            classes[i] = new SizeClass((long) MIN_BYTES << i, mappedBytes);
        }
        unpooled = new SizeClass(0, mappedBytes);
    }

    /**
     * Allocates a slab whose address is a multiple of {@link #MIN_BYTES}.
     *
     * @param bytes at least 1
     * @throws TransientStorageException if the system has no memory left
     */
    public Slab allocate(long bytes) {
        if (bytes < 1) {
            throw new IllegalArgumentException("slab size must be at least 1 byte, was " + bytes);
        }
        try {
            SizeClass.Block block = sizeClass(bytes).take(bytes);
            liveSlabs.incrementAndGet();
            liveBytes.addAndGet(bytes);
            return new Slab(this, block.mapping(), block.offset(), bytes);
        } catch (ErrnoException none) {
            throw new TransientStorageException(
                    String.valueOf(none.getMessage()), new Failure(Outcome.NOT_STARTED, none.nativeError()), none);
        }
    }

    /** Returns how many slabs are out. */
    public long liveSlabs() {
        return liveSlabs.get();
    }

    /** Returns how many bytes were asked for by those who hold slabs. */
    public long liveBytes() {
        return liveBytes.get();
    }

    /** Returns how many bytes the system has given to the pool. */
    public long mappedBytes() {
        return mappedBytes.get();
    }

    /** Gives mappings without a live slab back to the system. */
    public void trim() {
        for (SizeClass sizeClass : classes) {
            sizeClass.trim();
        }
    }

    /**
     * Gives back what is free now, and the rest as it becomes free; later allocations fail.
     *
     * @return how many slabs are still out
     */
    public long closeAndCount() {
        for (SizeClass sizeClass : classes) {
            sizeClass.close();
        }
        unpooled.close();
        return liveSlabs.get();
    }

    @Override
    public void close() {
        closeAndCount();
    }

    void release(Slab slab) {
        if (poison) {
            slab.mapping().fill(slab.offset(), slab.bytes(), POISON);
        }
        liveSlabs.decrementAndGet();
        liveBytes.addAndGet(-slab.bytes());
        sizeClass(slab.bytes()).give(new SizeClass.Block(slab.mapping(), slab.offset()));
    }

    private SizeClass sizeClass(long bytes) {
        return bytes > MAX_POOLED_BYTES ? unpooled : classes[classOf(bytes)];
    }

    private static int classOf(long bytes) {
        int ceilingLog2 = Long.SIZE - Long.numberOfLeadingZeros(Math.max(bytes, MIN_BYTES) - 1);
        return ceilingLog2 - Integer.numberOfTrailingZeros(MIN_BYTES);
    }
}
