// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.gpu.mapped;

import io.penstock.engine.kit.ffi.Errno;
import io.penstock.engine.kit.ffi.LibC;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/**
 * One content of a file, mapped for the GPU only: the processor never touches it, so that truncation raises no signal.
 * Divided into {@linkplain Segment segments}.
 *
 * <p><b>Ownership:</b> {@link Registrations} creates it, and unmaps it when no file uses it and no segment is
 * registered.
 */
public final class FileMapping {

    /**
     * A part of a file's mapping, registered with the driver as one; all fields but the constants are guarded by the
     * lock of {@link Registrations}.
     */
    public static final class Segment {

        /** Waits until a segment is registered. */
        public interface Waiter {

            /**
             * Called by a registrar when the segment is registered and counted as used; or with the error.
             */
            void arrived(int result);
        }

        /** The registration state. */
        enum State {
            /** Not registered. */
            ABSENT,
            /** Queued for registration. */
            WANTED,
            /** A registrar is registering it. */
            ARRIVING,
            /** Pinned; copies may read it. */
            REGISTERED,
            /** A registrar is unregistering it. */
            LEAVING
        }

        public final FileMapping mapping;
        final int index;
        final long address;
        final long bytes; // whole pages
        final List<Waiter> waiting = new ArrayList<>();
        State state = State.ABSENT;
        int copies; // that read it
        long elsewhere; // bytes read on another path since its last registration

        Segment(FileMapping mapping, int index, long address, long bytes) {
            this.mapping = mapping;
            this.index = index;
            this.address = address;
            this.bytes = bytes;
        }

        /** Returns its end offset in the file. */
        long end() {
            return Math.min((index + 1) * mapping.segmentBytes, mapping.key.size());
        }

        /** Returns true if as many bytes as it has were read on another path. */
        boolean isReadElsewhere() {
            return elsewhere >= end() - index * mapping.segmentBytes;
        }
    }

    static final int PROT_READ = 1;

    final FileKey key;
    public final long segmentBytes;
    private final long address;
    private final long mappedBytes;
    private final Segment[] segments;
    int files; // open ones that use it; under the lock of Registrations, as the next
    boolean discarded;
    int registered; // segments that are not absent, or wanted

    private FileMapping(FileKey key, long segmentBytes, long address, long mappedBytes) {
        this.key = key;
        this.segmentBytes = segmentBytes;
        this.address = address;
        this.mappedBytes = mappedBytes;
        this.segments = new Segment[(int) ((mappedBytes + segmentBytes - 1) / segmentBytes)];
        for (int i = 0; i < segments.length; i++) {
            long start = i * segmentBytes;
            segments[i] = new Segment(this, i, address + start, Math.min(segmentBytes, mappedBytes - start));
        }
    }

    /**
     * Maps a file.
     *
     * @param segmentBytes a multiple of the page size
     * @throws IOException with the system's answer
     */
    static FileMapping map(FileKey key, int fd, long segmentBytes) throws IOException {
        long page = LibC.pageSize();
        long bytes = (key.size() + page - 1) & -page;
        long address = LibC.orErrno(LibC.mmap(0, bytes, PROT_READ, LibC.MAP_SHARED, fd, 0));
        if (address < 0) {
            throw new IOException("mmap of " + bytes + " bytes -> " + Errno.symbol((int) -address));
        }
        return new FileMapping(key, segmentBytes, address, bytes);
    }

    /** Returns the segment that holds a byte of the file. */
    public Segment at(long fileOffset) {
        return segments[(int) (fileOffset / segmentBytes)];
    }

    /** Returns the segment {@code distance} after another, or the same segment if the file ends before. */
    Segment ahead(Segment from, int distance) {
        return segments[Math.min(from.index + distance, segments.length - 1)];
    }

    Segment before(Segment segment) {
        return segments[Math.max(segment.index - 1, 0)];
    }

    /** Returns the address of a byte of the file. */
    public long address(long fileOffset) {
        return address + fileOffset;
    }

    /** Returns the address space that it takes. */
    long mappedBytes() {
        return mappedBytes;
    }

    Segment[] segments() {
        return segments;
    }

    void unmap() {
        LibC.munmap(address, mappedBytes);
    }
}
