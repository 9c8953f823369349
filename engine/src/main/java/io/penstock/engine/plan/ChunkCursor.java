// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.plan;

import io.penstock.FileRegion;
import java.util.List;

/** Cuts regions into chunks, one after the other. Not thread-safe. */
public final class ChunkCursor {

    private final List<FileRegion> regions;
    private final long chunkBytes;
    private int region;
    private long offset; // of the next chunk in its region

    public ChunkCursor(List<FileRegion> regions, long chunkBytes) {
        this.regions = regions;
        this.chunkBytes = chunkBytes;
    }

    public long largestBytes() {
        long longest = regions.stream().mapToLong(FileRegion::length).max().orElse(0);
        return Math.min(chunkBytes, longest);
    }

    public boolean hasNext() {
        while (region < regions.size() && offset >= regions.get(region).length()) {
            skipRest(region);
        }
        return region < regions.size();
    }

    /** Returns the region of the next chunk. Only after {@link #hasNext}. */
    public int region() {
        return region;
    }

    /** Returns the next chunk. Only after {@link #hasNext}. */
    public FileRegion next() {
        FileRegion whole = regions.get(region);
        FileRegion chunk = whole.slice(offset, Math.min(chunkBytes, whole.length() - offset));
        offset += chunk.length();
        return chunk;
    }

    /** Moves to the region after {@code ended}, if it is not there yet. */
    public void skipRest(int ended) {
        if (region == ended) {
            region++;
            offset = 0;
        }
    }
}
