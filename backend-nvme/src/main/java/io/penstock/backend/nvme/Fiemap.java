// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.nvme;

import io.penstock.engine.kit.ffi.ErrnoException;
import io.penstock.engine.kit.ffi.LibC;
import io.penstock.engine.kit.ffi.NativeMemory;
import io.penstock.engine.kit.ffi.PathName;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.FileSystemException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** The extents of a file as the kernel's file system reports them: {@code FS_IOC_FIEMAP} of {@code linux/fiemap.h}. */
final class Fiemap {

    static final int HEAD_BYTES = 32;
    static final int EXTENT_BYTES = 56;

    private static final long FS_IOC_FIEMAP = 3L << 30 | HEAD_BYTES << 16 | 'f' << 8 | 11;
    private static final long FS_IOC_GETFLAGS = 2L << 30 | Long.BYTES << 16 | 'f' << 8 | 1;
    private static final int ENCRYPTED = 0x800; // FS_ENCRYPT_FL
    private static final int SYNC = 1;
    private static final int MOST_EXTENTS = 128; // of a call

    private static final int LAST = 0x1;
    private static final int MERGED = 0x1000;
    private static final Map<Integer, String> REFUSED = Map.of(
            0x2, "an unknown place",
            0x4, "no place yet (delayed allocation)",
            0x8, "encoded data",
            0x80, "encrypted data",
            0x100, "data that is not aligned to blocks",
            0x200, "data inside its inode",
            0x400, "data inside a block of others",
            0x800, "space that was not written",
            0x2000, "blocks that other files share");

    private final Path file;
    private final long partition;
    private final List<Extent> extents = new ArrayList<>();
    private long end; // of the extents

    private Fiemap(Path file, long partition) {
        this.file = file;
        this.partition = partition;
    }

    /**
     * Returns the extents that cover a file of {@code bytes}, neighbours joined.
     *
     * @param partition where the file system starts in the namespace, in bytes
     * @throws FileSystemException if a byte of the file has no block of its own, such as in a hole
     */
    static List<Extent> of(Path file, long bytes, long partition) throws IOException {
        int fd = LibC.orErrno(LibC.open(PathName.of(file), LibC.O_RDONLY | LibC.O_CLOEXEC, 0));
        if (fd < 0) {
            throw new ErrnoException(file.toString(), "open", -fd);
        }
        try {
            Fiemap map = new Fiemap(file, partition);
            if (bytes > 0 && isEncrypted(fd, file)) {
                throw map.refused(0, "encrypted data");
            }
            while (map.end < bytes) {
                map.add(ask(fd, map.end, file), bytes);
            }
            return List.copyOf(map.extents);
        } finally {
            LibC.close(fd);
        }
    }

    /** By the flags of the inode: ext4 does not mark the extents, whose blocks hold the ciphertext. */
    private static boolean isEncrypted(int fd, Path file) throws ErrnoException {
        ByteBuffer flags = ByteBuffer.allocateDirect(Long.BYTES).order(ByteOrder.nativeOrder());
        int result = LibC.orErrno(LibC.ioctl(fd, FS_IOC_GETFLAGS, NativeMemory.address(flags)));
        if (result < 0) {
            throw new ErrnoException(file.toString(), "FS_IOC_GETFLAGS", -result);
        }
        return (flags.getInt(0) & ENCRYPTED) != 0; // the kernel writes an int
    }

    private static ByteBuffer ask(int fd, long start, Path file) throws ErrnoException {
        ByteBuffer answer = ByteBuffer.allocateDirect(HEAD_BYTES + MOST_EXTENTS * EXTENT_BYTES)
                .order(ByteOrder.nativeOrder())
                .putLong(0, start)
                .putLong(8, -1) // to the end
                .putInt(16, SYNC)
                .putInt(24, MOST_EXTENTS);
        int result = LibC.orErrno(LibC.ioctl(fd, FS_IOC_FIEMAP, NativeMemory.address(answer)));
        if (result < 0) {
            throw new ErrnoException(file.toString(), "FS_IOC_FIEMAP", -result);
        }
        return answer;
    }

    /** Adds the extents of an answer of the kernel. */
    private void add(ByteBuffer answer, long bytes) throws FileSystemException {
        int count = answer.getInt(20);
        for (int i = 0; i < count && end < bytes; i++) {
            int at = HEAD_BYTES + i * EXTENT_BYTES;
            add(answer.getLong(at), answer.getLong(at + 8), answer.getLong(at + 16), answer.getInt(at + 40));
        }
        if (count == 0) {
            throw refused(end, "a hole");
        }
    }

    private void add(long logical, long physical, long length, int flags) throws FileSystemException {
        int flag = Integer.highestOneBit(flags & ~(LAST | MERGED)); // the lower ones, if any, are less specific
        if (flag != 0) {
            throw refused(
                    logical,
                    REFUSED.getOrDefault(flag, "an extent with the unknown flag 0x" + Integer.toHexString(flag)));
        }
        long skipped = end - logical; // of an extent that began before what was asked for
        if (skipped < 0) {
            throw refused(end, "a hole");
        }
        Extent last = extents.isEmpty() ? null : extents.get(extents.size() - 1);
        long place = partition + physical + skipped;
        long added = length - skipped;
        if (last != null && last.place() + last.bytes() == place) {
            extents.set(extents.size() - 1, new Extent(last.offset(), last.place(), last.bytes() + added));
        } else {
            extents.add(new Extent(end, place, added));
        }
        end += added;
    }

    private FileSystemException refused(long offset, String what) {
        return new FileSystemException(
                file.toString(), null, "every byte must lie in a block of its own, but at " + offset + " is " + what);
    }

    /** Returns what an answer of the kernel means; for tests of what no file system at hand answers. */
    static List<Extent> of(Path file, long bytes, ByteBuffer answer) throws FileSystemException {
        Fiemap map = new Fiemap(file, 0);
        map.add(answer, bytes);
        return map.extents;
    }
}
