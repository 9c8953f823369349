// SPDX-License-Identifier: Apache-2.0
package io.penstock.cli;

import io.penstock.engine.spi.ffi.LibC;
import io.penstock.engine.spi.ffi.Machine;
import io.penstock.engine.spi.ffi.NativeAccess;
import io.penstock.engine.spi.ffi.PathName;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * The extents of a file that hold data, by {@code lseek(2)} with SEEK_DATA and SEEK_HOLE; the holes between them read
 * as zeros.
 *
 * @param length the length of the file
 * @param extents in order; one for the whole file if the system does not report them
 */
record DataExtents(long length, List<Extent> extents) {

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
            return of(fd, length);
        } finally {
            LibC.close(fd);
        }
    }

    private static DataExtents of(int fd, long length) {
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
        return new DataExtents(length, List.copyOf(extents));
    }

    /** Returns a file of that length without holes. */
    static DataExtents whole(long length) {
        return new DataExtents(length, length == 0 ? List.of() : List.of(new Extent(0, length)));
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
