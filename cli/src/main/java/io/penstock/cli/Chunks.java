// SPDX-License-Identifier: Apache-2.0
package io.penstock.cli;

import java.util.Iterator;
import reactor.core.publisher.SynchronousSink;

/** Cuts the data of a file into chunks, in their order, each given out once. Thread-safe. */
final class Chunks {

    /** Bytes of the file. */
    record Piece(long offset, long length) {}

    private final long bytes;
    private final long count;
    private final Iterator<DataExtents.Extent> extents; // guarded by this
    private DataExtents.Extent current = new DataExtents.Extent(0, 0); // what is left of it; guarded by this

    /**
     * Cuts each extent by itself.
     *
     * @param mostBytes the bytes of a chunk, fewer if no extent has as many
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

    /** Returns how many chunks there are, or {@code most}. */
    int atMost(int most) {
        return (int) Math.min(most, count);
    }

    /** Emits the next one, or completes. */
    synchronized void next(SynchronousSink<Piece> sink) {
        if (current.offset() == current.end()) {
            if (!extents.hasNext()) {
                sink.complete();
                return;
            }
            current = extents.next();
        }
        long length = Math.min(bytes, current.end() - current.offset());
        sink.next(new Piece(current.offset(), length));
        current = new DataExtents.Extent(current.offset() + length, current.end());
    }
}
