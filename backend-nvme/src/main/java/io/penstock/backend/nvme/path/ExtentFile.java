// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.nvme.path;

import io.penstock.backend.nvme.Extent;
import io.penstock.backend.nvme.ExtentMap;
import io.penstock.backend.nvme.controller.Namespace;
import io.penstock.engine.spi.Limits;
import java.io.IOException;
import java.nio.file.FileSystemException;
import java.util.Arrays;
import java.util.List;

/** A file of a file system, read by its extents; a command reads within one. */
final class ExtentFile implements NvmeFile {

    private final String name;
    private final ExtentMap map;
    private final Namespace space;
    private final Limits limits;
    private final Identity identity;
    private final long[] offsets; // in the file, of each extent; sorted
    private final long[] places; // in the namespace

    /** No two files of a file system share a block; the map itself would be compared extent by extent. */
    private record Identity(String fileSystem, long place) {}

    /**
     * Creates the file of a map.
     *
     * @throws FileSystemException if an extent does not consist of whole blocks of the namespace
     */
    ExtentFile(String name, ExtentMap map, Namespace space, Limits limits) throws FileSystemException {
        this.name = name;
        this.map = map;
        this.space = space;
        this.limits = limits;
        List<Extent> extents = map.extents();
        for (Extent extent : extents) {
            boolean isAligned = (extent.place() | extent.bytes()) % space.blockBytes() == 0;
            if (!isAligned || extent.place() + extent.bytes() > space.bytes()) {
                throw new FileSystemException(
                        name,
                        null,
                        "extents must be whole blocks of " + space.blockBytes() + " bytes of a namespace with "
                                + space.bytes() + " bytes, was " + extent);
            }
        }
        identity = new Identity(
                map.digest(), extents.isEmpty() ? 0 : extents.get(0).place());
        offsets = extents.stream().mapToLong(Extent::offset).toArray();
        places = extents.stream().mapToLong(Extent::place).toArray();
    }

    private int extent(long fileOffset) {
        int found = Arrays.binarySearch(offsets, fileOffset);
        return found >= 0 ? found : -found - 2;
    }

    @Override
    public int namespace() {
        return space.id();
    }

    @Override
    public int blockBytes() {
        return space.blockBytes();
    }

    @Override
    public long block(long fileOffset) {
        int extent = extent(fileOffset);
        return (places[extent] + fileOffset - offsets[extent]) / space.blockBytes();
    }

    @Override
    public long readable(long fileOffset, long bytes) {
        if (fileOffset >= map.bytes()) {
            return 0;
        }
        int next = extent(fileOffset) + 1;
        long end = next < offsets.length ? Math.min(offsets[next], map.bytes()) : map.bytes();
        return Math.min(bytes, end - fileOffset);
    }

    @Override
    public long writable(long fileOffset, long bytes) {
        return 0;
    }

    @Override
    public Limits limits() {
        return limits;
    }

    @Override
    public Object identity() {
        return identity;
    }

    @Override
    public long size() {
        return map.bytes();
    }

    @Override
    public void truncate(long bytes) throws IOException {
        throw readOnly();
    }

    @Override
    public void preallocate(long bytes) throws IOException {
        throw readOnly();
    }

    private IOException readOnly() {
        return new FileSystemException(name, null, "a file that is opened by its extents is read-only");
    }

    @Override
    public void close() {
        // nothing is open
    }

    @Override
    public String toString() {
        return name;
    }
}
