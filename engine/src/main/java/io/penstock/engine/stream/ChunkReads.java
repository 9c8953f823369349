// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.stream;

import io.penstock.DeviceBuffer;
import io.penstock.FileRegion;
import io.penstock.StorageFile;
import io.penstock.engine.queue.DeliveryLoop;
import io.penstock.engine.queue.Port;
import java.util.ArrayDeque;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The chunks of a stream that are read ahead, in order. In turns only. */
final class ChunkReads {

    private final Port port;
    private final DeliveryLoop loop;
    private final ChunkBuffers buffers;
    private final ChunkCursor cursor;
    private final long bufferBytes;
    private final boolean oneByOne;
    private final ArrayDeque<ChunkTransfer> reads = new ArrayDeque<>();
    private int endedRegion = -1; // the last region that was cut short by the end of its file
    private boolean stopped;

    /** Reads regions, with as many chunks ahead as there are buffers. */
    ChunkReads(Port port, DeliveryLoop loop, ChunkBuffers buffers, List<FileRegion> regions, long chunkBytes) {
        this(port, loop, buffers, new ChunkCursor(regions, chunkBytes), false);
    }

    /**
     * Reads a file that reports no length to its end, each chunk after the chunk before it has completed: the kernel
     * generates the content of such files as it is read, from the start if it is not read in order.
     */
    ChunkReads(Port port, DeliveryLoop loop, ChunkBuffers buffers, StorageFile file, long chunkBytes) {
        this(port, loop, buffers, new ChunkCursor(List.of(file.region(0, Long.MAX_VALUE)), chunkBytes), true);
    }

    private ChunkReads(Port port, DeliveryLoop loop, ChunkBuffers buffers, ChunkCursor cursor, boolean oneByOne) {
        this.port = port;
        this.loop = loop;
        this.buffers = buffers;
        this.cursor = cursor;
        this.bufferBytes = cursor.largestBytes();
        this.oneByOne = oneByOne;
    }

    /** Starts reading into every buffer that is free. */
    void fill() {
        while (!stopped && cursor.hasNext() && !(oneByOne && !reads.isEmpty())) {
            DeviceBuffer buffer = buffers.take(bufferBytes);
            if (buffer == null) {
                return;
            }
            int region = cursor.region();
            ChunkTransfer read;
            try {
                read = ChunkTransfer.read(port, loop, cursor.next(), buffer, region);
            } catch (RuntimeException | Error e) {
                buffers.give(buffer);
                throw e;
            }
            reads.add(read);
            read.open();
        }
    }

    /** Removes and returns the next read if it has ended, in error or with bytes. */
    @Nullable
    ChunkTransfer poll() {
        for (ChunkTransfer head = reads.peek(); head != null && head.isOver(); head = reads.peek()) {
            reads.remove();
            // Data after a short chunk does not count, even if the file has grown since: it would leave a hole.
            boolean counts = head.region() != endedRegion;
            // The device may still write to the buffer of an abandoned read: there is no reading into it again (rule
            // 601).
            if (head.error() != null && (counts || head.isCancelled())) {
                return head;
            }
            if (counts && head.moved() < head.transfer().length()) {
                endedRegion = head.region();
                cursor.skipRest(endedRegion);
            }
            if (counts && head.moved() > 0) {
                return head;
            }
            buffers.give(head.buffer());
            fill();
        }
        return null;
    }

    /** Returns true if chunks are left, and no buffer is for one. */
    boolean isStarved() {
        return reads.isEmpty() && cursor.hasNext();
    }

    /** Returns true if there are no chunks left. */
    boolean isExhausted() {
        return reads.isEmpty() && !cursor.hasNext();
    }

    /** Cancels what is being read and starts nothing more. The memory stays pinned until the device has released it. */
    void stop() {
        stopped = true;
        for (ChunkTransfer read = reads.poll(); read != null; read = reads.poll()) {
            read.cancel();
            read.buffer().close();
        }
    }

    /** Cuts regions into chunks, one after the other. Not thread-safe. */
    private static final class ChunkCursor {

        private final List<FileRegion> regions;
        private final long chunkBytes;
        private int region;
        private long offset; // of the next chunk in its region

        ChunkCursor(List<FileRegion> regions, long chunkBytes) {
            this.regions = regions;
            this.chunkBytes = chunkBytes;
        }

        long largestBytes() {
            long longest = regions.stream().mapToLong(FileRegion::length).max().orElse(0);
            return Math.min(chunkBytes, longest);
        }

        boolean hasNext() {
            while (region < regions.size() && offset >= regions.get(region).length()) {
                skipRest(region);
            }
            return region < regions.size();
        }

        /** Returns the region of the next chunk. Only after {@link #hasNext}. */
        int region() {
            return region;
        }

        /** Returns the next chunk. Only after {@link #hasNext}. */
        FileRegion next() {
            FileRegion whole = regions.get(region);
            FileRegion chunk = whole.slice(offset, Math.min(chunkBytes, whole.length() - offset));
            offset += chunk.length();
            return chunk;
        }

        /** Moves to the region after {@code ended}, if it is not there yet. */
        void skipRest(int ended) {
            if (region == ended) {
                region++;
                offset = 0;
            }
        }
    }
}
