// SPDX-License-Identifier: Apache-2.0
package io.penstock.cli;

import io.penstock.engine.kit.ffi.LibC;
import io.penstock.engine.kit.ffi.Machine;
import io.penstock.engine.kit.ffi.NativeAccess;
import io.penstock.engine.kit.ffi.NativeMemory;
import io.penstock.engine.kit.ffi.PathName;
import java.io.IOException;
import java.lang.ref.Reference;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.List;

/**
 * The extents of a file that hold data, by {@code lseek(2)} with SEEK_DATA and SEEK_HOLE; the holes between them read
 * as zeros.
 *
 * @param length the length of the file
 * @param extents in order; one for the whole file if the system does not report them
 * @param identity of the opening that reported them, as {@link #identity(BasicFileAttributes)}; empty if there are no
 *     holes
 */
record DataExtents(long length, List<Extent> extents, String identity) {

    private static final long FUSE = 0x65735546;
    private static final int STATX_BYTES = 256;
    private static final int STATX_BASIC_STATS = 0x7ff;
    private static final int STATX_BLOCKS_OFFSET = 0x30;
    private static final int BLOCK_BYTES = 512;

    private static final int SEEK_DATA = 3;
    private static final int SEEK_HOLE = 4;
    private static final int ENXIO = 6;

    /**
     * Bytes without a hole.
     *
     * @param end the offset behind the last one
     */
    record Extent(long offset, long end) {}

    static DataExtents of(Path path) throws IOException {
        long length = Files.size(path);
        if (!Machine.isSupported() || NativeAccess.refusal() != null) {
            return whole(length);
        }
        int fd = LibC.orErrno(LibC.open(PathName.of(path), LibC.O_RDONLY | LibC.O_CLOEXEC, 0));
        if (fd < 0) {
            return whole(length); // the copy itself will fail
        }
        try {
            return mayHaveHoles(fd, length) ? of(fd, length) : whole(length);
        } finally {
            LibC.close(fd);
        }
    }

    /**
     * A file system may call a hole what it has not written yet, as ZFS did: where as many blocks are allocated as the
     * file is long there is none, and elsewhere it writes first. What a program of FUSE states is not relied on.
     */
    private static boolean mayHaveHoles(int fd, long length) {
        ByteBuffer status = ByteBuffer.allocateDirect(STATX_BYTES + 1).order(ByteOrder.nativeOrder());
        long address = NativeMemory.address(status);
        try {
            if (LibC.fstatfs(fd, address) != 0 || status.getLong(0) == FUSE) {
                return false;
            }
            status.put(STATX_BYTES, (byte) 0);
            return LibC.statx(fd, STATX_BASIC_STATS, address + STATX_BYTES, address) == 0
                    && status.getLong(STATX_BLOCKS_OFFSET) * BLOCK_BYTES < length
                    && LibC.fsync(fd) == 0;
        } finally {
            Reference.reachabilityFence(status);
        }
    }

    /** Returns what distinguishes a file from another of the same name, as of its opening. */
    static String identity(BasicFileAttributes opened) {
        return opened.fileKey() + " " + opened.lastModifiedTime().toMillis();
    }

    private static DataExtents of(int fd, long length) throws IOException {
        List<Extent> extents = new ArrayList<>();
        for (long at = 0; at < length; ) {
            long data = LibC.orErrno(LibC.lseek(fd, at, SEEK_DATA));
            if (data == -ENXIO) {
                break; // only a hole is left
            }
            long hole = data < 0 ? data : LibC.orErrno(LibC.lseek(fd, data, SEEK_HOLE));
            if (hole <= at) {
                return whole(length); // not reported
            }
            if (data < length) {
                extents.add(new Extent(data, Math.min(hole, length)));
            }
            at = hole;
        }
        Path opened = Path.of("/proc/self/fd/" + fd);
        return new DataExtents(
                length, List.copyOf(extents), identity(Files.readAttributes(opened, BasicFileAttributes.class)));
    }

    /** Returns a file of that length without holes. */
    static DataExtents whole(long length) {
        return new DataExtents(length, length == 0 ? List.of() : List.of(new Extent(0, length)), "");
    }

    /** Returns the number of bytes that are not in holes. */
    long dataBytes() {
        return extents.stream()
                .mapToLong(extent -> extent.end() - extent.offset())
                .sum();
    }

    /** Returns true if the file extends beyond its data. */
    boolean endsInHole() {
        return length > 0
                && (extents.isEmpty() || extents.get(extents.size() - 1).end() < length);
    }
}
