// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.kit.memory;

import io.penstock.CommonOptions;
import io.penstock.Failure;
import io.penstock.Option;
import io.penstock.Outcome;
import io.penstock.TransientStorageException;
import io.penstock.engine.kit.ffi.ErrnoException;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import java.util.stream.Stream;

/**
 * A pool of page-aligned memory in powers of two from 4 KiB to 64 MiB; larger slabs are mapped individually,
 * and a few of them are kept when they are free.
 *
 * <p>The content of a slab is undefined: zeros, or what an earlier slab of this process held, never data of another
 * process.
 *
 * <p><b>Threading:</b> thread-safe.
 *
 * <p><b>Ownership:</b> {@link #close} frees unused memory; each live slab keeps its mapping until it is freed, and is
 * counted in {@link #liveSlabs()}.
 */
public final class Slabs implements AutoCloseable {
    /** The smallest size class, and the alignment of every slab. */
    public static final int MIN_BYTES = Mapping.ALIGNMENT;
    /** The largest size class. */
    public static final long MAX_POOLED_BYTES = 64L << 20;
    /** The most bytes of larger slabs that are kept when they are free. */
    public static final long MOST_IDLE_BYTES = 256L << 20;
    /** The byte that freed slabs are filled with if poisoning is on. */
    public static final byte POISON = (byte) 0xDB;

    private final SizeClass[] classes;
    private final SizeClass large;
    private final boolean poison;
    private final Consumer<Slab> release = this::release; // one for all slabs
    private final AtomicLong liveSlabs = new AtomicLong();
    private final AtomicLong liveBytes = new AtomicLong();
    private final AtomicLong mappedBytes = new AtomicLong();

    /** The pool of the process; a holder, so that it is created on first use. */
    private static final class Shared {
        static final Slabs SLABS =
                new Slabs(Stream.of(CommonOptions.POISON, CommonOptions.DEBUG).anyMatch(Shared::isSet));

        private static boolean isSet(Option<Boolean> flag) {
            return Boolean.getBoolean(flag.name()) || Boolean.parseBoolean(System.getenv(flag.variable()));
        }
    }

    /** Returns the pool that all backends of the process share; it is never closed. */
    public static Slabs shared() {
        return Shared.SLABS;
    }

    /** Creates an empty pool. */
    public Slabs() {
        this(false);
    }

    /**
     * Creates an empty pool.
     *
     * @param poison whether freed slabs are filled with {@link #POISON}, so that a use after free shows:
     *     {@link #overwritten()} counts writes; for tests
     */
    public Slabs(boolean poison) {
        this.poison = poison;
        classes = new SizeClass[classOf(MAX_POOLED_BYTES) + 1];
        for (int i = 0; i < classes.length; i++) {
            classes[i] = SizeClass.of((long) MIN_BYTES << i, mappedBytes);
        }
        large = SizeClass.large(MOST_IDLE_BYTES, mappedBytes);
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
            return new Slab(release, block.mapping(), block.offset(), bytes);
        } catch (ErrnoException none) {
            throw new TransientStorageException(
                    String.valueOf(none.getMessage()), new Failure(Outcome.NOT_STARTED, none.nativeError()), none);
        }
    }

    /** Returns the number of live slabs. */
    public long liveSlabs() {
        return liveSlabs.get();
    }

    /** Returns the requested bytes of all live slabs. */
    public long liveBytes() {
        return liveBytes.get();
    }

    /** Returns the bytes that the pool has mapped from the system. */
    public long mappedBytes() {
        return mappedBytes.get();
    }

    /**
     * Returns the number of slabs that were written to after they were freed: found when their memory was used again or
     * unmapped, or now. 0 if poisoning is off.
     */
    public long overwritten() {
        long overwritten = 0;
        for (SizeClass sizeClass : classes) {
            overwritten += sizeClass.overwritten();
        }
        return overwritten + large.overwritten();
    }

    /** Unmaps mappings without a live slab. */
    public void trim() {
        for (SizeClass sizeClass : classes) {
            sizeClass.trim();
        }
        large.trim();
    }

    /**
     * Frees unused memory now, and the rest as slabs are freed; later allocations fail.
     *
     * @return the number of live slabs
     */
    public long closeAndCount() {
        for (SizeClass sizeClass : classes) {
            sizeClass.close();
        }
        large.close();
        return liveSlabs.get();
    }

    @Override
    public void close() {
        closeAndCount();
    }

    private void release(Slab slab) {
        if (poison) {
            slab.pages().fill(slab.offset(), slab.bytes(), POISON);
        }
        liveSlabs.decrementAndGet();
        liveBytes.addAndGet(-slab.bytes());
        sizeClass(slab.bytes()).give(new SizeClass.Block(slab.pages(), slab.offset(), poison ? slab.bytes() : 0));
    }

    private SizeClass sizeClass(long bytes) {
        return bytes > MAX_POOLED_BYTES ? large : classes[classOf(bytes)];
    }

    private static int classOf(long bytes) {
        int ceilingLog2 = Long.SIZE - Long.numberOfLeadingZeros(Math.max(bytes, MIN_BYTES) - 1);
        return ceilingLog2 - Integer.numberOfTrailingZeros(MIN_BYTES);
    }
}
