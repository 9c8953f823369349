// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.kit.memory;

import io.penstock.engine.host.uring.Indices;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A range of mapped memory that an io_uring may register, so that the kernel looks up and pins its pages once and not
 * for every operation. If the kernel refuses (memory mapped by a driver may have no pages that can be pinned), it is
 * used unregistered.
 *
 * <p><b>Threading:</b> thread-safe.
 *
 * <p><b>Ownership:</b> the owner of the memory calls {@link #retire} once, before unmapping it.
 */
public final class MemoryMapping {
    private static final Indices INDICES = new Indices();
    // I/O queues compare it with the last value they saw, to detect that a registered mapping may be gone.
    private static final AtomicInteger RETIRED = new AtomicInteger();

    private final int index = INDICES.take();
    private final long address;
    private final long bytes;
    private volatile boolean retired;

    /** Describes the {@code bytes} of memory at {@code address}. */
    public MemoryMapping(long address, long bytes) {
        this.address = address;
        this.bytes = bytes;
    }

    /** Returns how many mappings have been retired since the process started. */
    public static int retiredCount() {
        return RETIRED.get();
    }

    /** Returns a small number, unique among the mappings that are not retired. */
    public int index() {
        return index;
    }

    /** Returns the address of the first byte. */
    public long address() {
        return address;
    }

    /** Returns the length. */
    public long bytes() {
        return bytes;
    }

    /** Returns whether {@link #retire} was called; {@link #retiredCount} changes after this. */
    public boolean isRetired() {
        return retired;
    }

    /** Makes the rings unpin its pages. No operation may use the memory any more. */
    public void retire() {
        retired = true;
        RETIRED.incrementAndGet();
        INDICES.give(index);
    }
}
