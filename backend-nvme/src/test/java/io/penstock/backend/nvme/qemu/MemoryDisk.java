// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.nvme.qemu;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.HashMap;
import java.util.Map;

/**
 * A disk in memory with a volatile write cache: what was written is durable after a flush, and gone after {@link #cut}
 * without one. Two of its blocks are bad.
 */
public final class MemoryDisk implements NbdDisk.Content {

    /** A block that cannot be read. */
    public static final long UNREADABLE = 1000;

    /** A block for which there is no space. */
    public static final long FULL = 1001;

    /** The size of its blocks. */
    public static final int BLOCK = 512;

    private final long bytes;
    private final Map<Long, byte[]> durable = new HashMap<>(); // by block; guarded by this, as the next
    private final Map<Long, byte[]> cached = new HashMap<>();
    private int flushes;
    private boolean isHeld;

    /** Creates a disk of zeros. */
    public MemoryDisk(long bytes) {
        this.bytes = bytes;
    }

    @Override
    public long bytes() {
        return bytes;
    }

    /** Holds reads until {@link #release}. */
    public synchronized void hold() {
        isHeld = true;
    }

    /** Carries out the reads that were held, and later ones. */
    public synchronized void release() {
        isHeld = false;
        notifyAll();
    }

    @Override
    public synchronized void read(long offset, ByteBuffer target) throws IOException {
        awaitRelease();
        for (long block = offset / BLOCK; target.hasRemaining(); block++) {
            if (block == UNREADABLE) {
                throw new IOException("Input/output error");
            }
            byte[] zeros = new byte[BLOCK];
            target.put(cached.getOrDefault(block, durable.getOrDefault(block, zeros)), 0, BLOCK);
        }
    }

    private synchronized void awaitRelease() throws IOException {
        try {
            while (isHeld) {
                wait();
            }
        } catch (InterruptedException e) {
            throw new IOException(e);
        }
    }

    @Override
    public synchronized void write(long offset, ByteBuffer source) throws IOException {
        for (long block = offset / BLOCK; source.hasRemaining(); block++) {
            if (block == FULL) {
                throw new IOException(NbdDisk.FULL);
            }
            byte[] content = new byte[BLOCK];
            source.get(content);
            cached.put(block, content);
        }
    }

    @Override
    public synchronized void flush() {
        durable.putAll(cached);
        cached.clear();
        flushes++;
    }

    /** Forgets what was not flushed. */
    public synchronized void cut() {
        cached.clear();
    }

    /** Returns how many times it was flushed. */
    public synchronized int flushes() {
        return flushes;
    }
}
