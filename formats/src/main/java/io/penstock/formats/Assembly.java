// SPDX-License-Identifier: Apache-2.0
package io.penstock.formats;

import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SeekableByteChannel;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Slabs of a box of chunks, assembled in memory of the host: chunks are read, decoded, and put in their places. */
final class Assembly {

    /** Runs that are shorter are assembled on the host: the device would get a copy for each. */
    static final long STRAIGHT_RUN_BYTES = 4096;

    private static final long MOST_STORED_BYTES = Integer.MAX_VALUE - 8; // of a Java array

    private Assembly() {}

    /** Returns whether the chunks can be transferred to their places as they are. */
    static boolean isStraight(ChunkWindow window) {
        List<Array.ChunkData> chunks = window.chunks();
        boolean encoded = chunks.stream().anyMatch(chunk -> !chunk.codecs().isEmpty());
        boolean missing = chunks.size() < window.expectedChunks();
        long whole = Array.bytes(window.array().type(), window.data().chunkShape());
        long run = window.runBytes();
        return !encoded && !missing && (run >= STRAIGHT_RUN_BYTES || run == whole);
    }

    /** Rows of the slowest dimension of a box, and the chunks in them. */
    record Slab(ChunkWindow window, long offset, long bytes, List<Array.ChunkData> chunks) {

        /** Returns the bytes of a chunk, which is decoded as a whole, however little of it is in the slab. */
        private long chunkBytes() {
            return Array.bytes(window.array().type(), window.data().chunkShape());
        }

        /** Returns the most memory that its reading takes at a time for decoded bytes. */
        long memoryBytes() {
            return chunks.isEmpty() ? bytes : Math.max(bytes, chunkBytes());
        }

        /** Returns the bytes of the slab. */
        ByteBuffer read() throws IOException {
            ByteBuffer slab = ByteBuffer.allocateDirect((int) bytes);
            fill(slab);
            int chunkBytes = Math.toIntExact(chunkBytes());
            for (Array.ChunkData chunk : chunks) {
                ByteBuffer decoded = Codecs.decode(chunk, stored(chunk.extent()), chunkBytes);
                window.overlap(chunk).copy(decoded, slab, offset);
            }
            return slab;
        }

        /** Fills by doubling what is filled. */
        private void fill(ByteBuffer slab) {
            List<Byte> fill = window.data().fill();
            int filled = Math.min(fill.size(), slab.limit());
            for (int i = 0; i < filled; i++) {
                slab.put(i, fill.get(i));
            }
            while (filled > 0 && filled < slab.limit()) {
                int count = Math.min(filled, slab.limit() - filled);
                slab.put(filled, slab, 0, count);
                filled += count;
            }
        }

        private static byte[] stored(Extent extent) throws IOException {
            byte[] bytes = new byte[Math.toIntExact(extent.length())];
            ByteBuffer target = ByteBuffer.wrap(bytes);
            try (SeekableByteChannel channel = Files.newByteChannel(extent.file())) {
                Assembly.read(channel, target, extent);
            }
            return bytes;
        }
    }

    /** Fills {@code target} from the start of the extent on. */
    static void read(SeekableByteChannel channel, ByteBuffer target, Extent extent) throws IOException {
        channel.position(extent.offset());
        while (target.hasRemaining()) {
            int read = HeaderBytes.readSome(channel, target);
            if (read < 0) {
                throw new EOFException(extent.file() + " became shorter");
            }
        }
    }

    /**
     * Checks that the chunks can be decoded, and assembled layer by layer in that much memory.
     *
     * @throws IllegalArgumentException if not
     */
    static void check(ChunkWindow window, long mostBytes) {
        if (window.bytes() == 0) {
            return;
        }
        check(window, Array.bytes(window.array().type(), window.data().chunkShape()), mostBytes);
        long mostStored = Math.min(2 * mostBytes, MOST_STORED_BYTES); // what does not compress becomes a little longer
        for (Array.ChunkData chunk : window.chunks()) {
            Codecs.check(window.array(), chunk);
            if (chunk.extent().length() > mostStored) {
                throw new IllegalArgumentException("array " + window.array().name() + " has a chunk of "
                        + chunk.extent().length() + " bytes in its file, more than " + mostStored
                        + "; " + Loader.SEE_HOST_BYTES);
            }
        }
        Layers layers = Layers.of(window);
        long first = layers.end(0);
        long rows = Math.max(first, Math.min(layers.rows - first, layers.chunkRows));
        check(window, rows * layers.rowBytes, mostBytes);
    }

    private static void check(ChunkWindow window, long bytes, long mostBytes) {
        if (bytes > mostBytes) {
            throw new IllegalArgumentException("array " + window.array().name() + " needs " + bytes
                    + " bytes of host memory to be assembled from its chunks, more than " + mostBytes
                    + "; " + Loader.SEE_HOST_BYTES);
        }
    }

    /**
     * The layers of chunks along the slowest dimension of a box.
     *
     * @param from the first row of the box in the array
     * @param rows the rows of the box
     * @param rowBytes the bytes of each
     * @param chunkRows the rows of a chunk
     */
    private record Layers(long from, long rows, long rowBytes, long chunkRows) {

        static Layers of(ChunkWindow window) {
            if (window.shape().isEmpty()) {
                return new Layers(0, 1, window.bytes(), 1);
            }
            long rows = first(window, window.shape());
            long from = first(window, window.from());
            return new Layers(
                    from,
                    rows,
                    window.bytes() / rows,
                    first(window, window.data().chunkShape()));
        }

        private static long first(ChunkWindow window, List<Long> list) {
            return window.slowestFirst(list).get(0);
        }

        /** Returns the number of the layer that has a row of the box. */
        long layer(long row) {
            return (from + row) / chunkRows;
        }

        /** Returns the first row of the box that is not in the layer of {@code row}. */
        long end(long row) {
            long layer = layer(row);
            return layer == layer(rows - 1) ? rows : (layer + 1) * chunkRows - from;
        }
    }

    /**
     * Returns slabs of at least {@code leastBytes}, if there are as many, that are the whole box.
     *
     * @throws IllegalArgumentException if one would have more than {@code mostBytes}
     */
    static List<Slab> slabs(ChunkWindow window, long leastBytes, long mostBytes) {
        check(window, mostBytes);
        if (window.bytes() == 0) {
            return List.of();
        }
        Layers layers = Layers.of(window);
        Map<Long, List<Array.ChunkData>> chunks = new HashMap<>();
        for (Array.ChunkData chunk : window.chunks()) {
            long layer = chunk.position().isEmpty() ? 0 : Layers.first(window, chunk.position());
            chunks.computeIfAbsent(layer, position -> new ArrayList<>()).add(chunk);
        }
        List<Slab> slabs = new ArrayList<>();
        List<Array.ChunkData> open = new ArrayList<>();
        long start = 0;
        for (long row = 0; row < layers.rows; ) {
            open.addAll(chunks.getOrDefault(layers.layer(row), List.of()));
            row = layers.end(row);
            long bytes = (row - start) * layers.rowBytes;
            boolean last = row == layers.rows;
            if (last || bytes >= leastBytes || bytes + (layers.end(row) - row) * layers.rowBytes > mostBytes) {
                slabs.add(new Slab(window, start * layers.rowBytes, bytes, List.copyOf(open)));
                open.clear();
                start = row;
            }
        }
        return slabs;
    }
}
