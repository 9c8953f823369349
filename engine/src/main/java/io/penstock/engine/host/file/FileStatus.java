// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.host.file;

import io.penstock.engine.host.kernel.FileCalls;
import io.penstock.engine.kit.ffi.Errno;
import io.penstock.engine.kit.ffi.ErrnoException;
import io.penstock.engine.kit.ffi.NativeMemory;
import io.penstock.engine.kit.file.FileStamp;
import io.penstock.engine.spi.FileAttributes;
import java.lang.ref.Reference;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.attribute.FileTime;
import java.util.concurrent.TimeUnit;

/**
 * The result of {@code statx} for a file.
 *
 * @param directMemoryAlignment the alignment of addresses under O_DIRECT; 0 if O_DIRECT cannot be used
 * @param directOffsetAlignment the alignment of offsets and lengths under O_DIRECT
 */
record FileStatus(
        int mode, FileIdentity identity, FileStamp stamp, int directMemoryAlignment, int directOffsetAlignment) {

    private static final int STATX_BASIC_STATS = 0x7ff;
    private static final int STATX_DIOALIGN = 0x2000;
    private static final int STATX_BYTES = 256;
    private static final int S_IFMT = 0xf000;
    private static final int S_IFREG = 0x8000;
    private static final int S_IFDIR = 0x4000;
    private static final int S_IFBLK = 0x6000;
    // Before 6.1 the kernel does not report it; no file system with O_DIRECT requires more than a page.
    private static final int UNREPORTED_ALIGNMENT = 4096;

    static FileStatus of(FileCalls calls, int fd) throws ErrnoException {
        ByteBuffer memory = ByteBuffer.allocateDirect(STATX_BYTES + 1).order(ByteOrder.nativeOrder());
        long address = NativeMemory.address(memory);
        int mask = STATX_BASIC_STATS | STATX_DIOALIGN;
        try {
            int answer;
            do {
                answer = calls.status(fd, mask, address + STATX_BYTES, address);
            } while (answer == -Errno.EINTR);
            if (answer < 0) {
                throw new ErrnoException("statx", -answer);
            }
            return parse(memory);
        } finally {
            Reference.reachabilityFence(memory);
        }
    }

    FileAttributes attributes() {
        return new FileAttributes(
                isRegular(), stamp.size(), FileTime.from(stamp.modifiedNanos(), TimeUnit.NANOSECONDS), identity);
    }

    boolean isRegular() {
        return (mode & S_IFMT) == S_IFREG;
    }

    boolean isDirectory() {
        return (mode & S_IFMT) == S_IFDIR;
    }

    boolean isBlockDevice() {
        return (mode & S_IFMT) == S_IFBLK;
    }

    // Offsets of struct statx, linux/stat.h.
    private static FileStatus parse(ByteBuffer statx) {
        int mode = statx.getShort(0x1c) & 0xffff;
        // A block device is identified by its number, not by the node it was opened through: rdev instead of dev and
        // inode.
        boolean block = (mode & S_IFMT) == S_IFBLK;
        int device = block ? 0x80 : 0x88;
        FileIdentity identity = new FileIdentity(
                (long) statx.getInt(device) << 32 | statx.getInt(device + 4), block ? 0 : statx.getLong(0x20));
        FileStamp stamp = new FileStamp(statx.getLong(0x28), nanos(statx, 0x70), nanos(statx, 0x60));
        boolean reported = (statx.getInt(0) & STATX_DIOALIGN) != 0;
        return new FileStatus(
                mode,
                identity,
                stamp,
                reported ? statx.getInt(0x98) : UNREPORTED_ALIGNMENT,
                reported ? statx.getInt(0x9c) : UNREPORTED_ALIGNMENT);
    }

    private static long nanos(ByteBuffer statx, int timestamp) {
        return statx.getLong(timestamp) * 1_000_000_000 + statx.getInt(timestamp + 8);
    }
}
