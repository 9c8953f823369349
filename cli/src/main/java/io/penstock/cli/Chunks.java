// SPDX-License-Identifier: Apache-2.0
package io.penstock.cli;

import java.util.Iterator;
import reactor.core.publisher.SynchronousSink;

/** Splits the data of a file into chunks, in order, each emitted once. Thread-safe. */
final class Chunks {

    /** Bytes of the file. */
    record Segment(long offset, long length) {}

    private final long bytes;
    private final long count;
    private final Iterator<DataExtents.Extent> extents; // guarded by this
    private DataExtents.Extent current = new DataExtents.Extent(0, 0); // the rest of it; guarded by this

    /**
     * Splits each extent separately.
     *
     * @param mostBytes the bytes of a chunk; fewer if no extent is that long
     */
    Chunks(DataExtents data, long mostBytes) {
        long longest = data.extents().stream()
                .mapToLong(extent -> extent.end() - extent.offset())
                .max()
                .orElse(1);
        bytes = Math.min(mostBytes, longest);
        count = data.extents().stream()
                .mapToLong(extent -> (extent.end() - extent.offset() + bytes - 1) / bytes)
                .sum();
        extents = data.extents().iterator();
    }

    /** Returns the bytes of the largest chunk. */
    long bytes() {
        return bytes;
    }

    /** Returns the number of chunks, at most {@code most}. */
    int atMost(int most) {
        return (int) Math.min(most, count);
    }

    /** Emits the next chunk, or completes. */
    synchronized void next(SynchronousSink<Segment> sink) {
        if (current.offset() == current.end()) {
            if (!extents.hasNext()) {
                sink.complete();
                return;
            }
            current = extents.next();
        }
        long length = Math.min(bytes, current.end() - current.offset());
        sink.next(new Segment(current.offset(), length));
        current = new DataExtents.Extent(current.offset() + length, current.end());
    }
}
