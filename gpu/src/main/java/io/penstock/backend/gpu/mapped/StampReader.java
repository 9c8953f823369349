// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.gpu.mapped;

import io.penstock.engine.kit.ffi.LibC;
import io.penstock.engine.kit.ffi.NativeMemory;
import java.nio.ByteBuffer;

/**
 * Reads the stamp of files into preallocated memory, twice for every copy.
 *
 * <p><b>Threading:</b> one thread at a time.
 */
public final class StampReader implements AutoCloseable {

    private static final int STATX_BASIC_STATS = 0x7ff;
    private static final int STATX_BYTES = 256;
    private static final int S_IFMT = 0xf000;
    private static final int S_IFREG = 0x8000;

    private final long memory = NativeMemory.allocate(STATX_BYTES + 1);
    private final ByteBuffer statx = NativeMemory.view(memory, STATX_BYTES);

    public StampReader() {
        NativeMemory.fill(memory + STATX_BYTES, 1, (byte) 0); // the empty path
    }

    /** Reads the stamp of a descriptor; returns 0, or {@code -errno}. */
    public int read(int fd) {
        return LibC.orErrno(LibC.statx(fd, STATX_BASIC_STATS, memory + STATX_BYTES, memory));
    }

    // Offsets of struct statx, linux/stat.h.

    public boolean isRegular() {
        return (statx.getShort(0x1c) & S_IFMT) == S_IFREG;
    }

    /** Returns the stamp that was read. */
    public FileKey key() {
        return new FileKey(device(), statx.getLong(0x20), statx.getLong(0x28), nanos(0x70), nanos(0x60));
    }

    /** Returns true if the stamp that was read is {@code key}. */
    public boolean shows(FileKey key) {
        return statx.getLong(0x28) == key.size()
                && nanos(0x60) == key.changedNanos()
                && nanos(0x70) == key.modifiedNanos()
                && statx.getLong(0x20) == key.inode()
                && device() == key.device();
    }

    private long device() {
        return (long) statx.getInt(0x88) << 32 | statx.getInt(0x8c);
    }

    private long nanos(int timestamp) {
        return statx.getLong(timestamp) * 1_000_000_000 + statx.getInt(timestamp + 8);
    }

    @Override
    public void close() {
        NativeMemory.free(memory);
    }
}
