// SPDX-License-Identifier: Apache-2.0
package io.penstock.formats;

import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Slabs of a box of chunks, assembled in memory of the host: chunks are read, decoded, and put in their places. */
final class Assembly {

    /** Runs that are shorter are assembled on the host: the device would get a copy for each. */
    static final long STRAIGHT_RUN_BYTES = 4096;

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

        /** Returns the bytes of the slab. */
        ByteBuffer read() throws IOException {
            ByteBuffer slab = ByteBuffer.allocateDirect((int) bytes);
            fill(slab);
            int chunkBytes = Math.toIntExact(
                    Array.bytes(window.array().type(), window.data().chunkShape()));
            for (Array.ChunkData chunk : chunks) {
                ByteBuffer decoded = Codecs.decode(chunk, stored(chunk.extent()), chunkBytes);
                window.runs(
                        chunk,
                        (chunkOffset, boxOffset, length) ->
                                slab.put((int) (boxOffset - offset), decoded, (int) chunkOffset, (int) length));
            }
            return slab;
        }

        private void fill(ByteBuffer slab) {
            List<Byte> fill = window.data().fill();
            for (int i = 0; !fill.isEmpty() && i < slab.limit(); i++) {
                slab.put(i, fill.get(i % fill.size()));
            }
        }

        private static byte[] stored(Extent extent) throws IOException {
            byte[] bytes = new byte[Math.toIntExact(extent.length())];
            ByteBuffer target = ByteBuffer.wrap(bytes);
            try (FileChannel channel = FileChannel.open(extent.file())) {
                Assembly.read(channel, target, extent);
            }
            return bytes;
        }
    }

    /** Fills {@code target} from the start of the extent on. */
    static void read(FileChannel channel, ByteBuffer target, Extent extent) throws IOException {
        long at = extent.offset();
        while (target.hasRemaining()) {
            int read = channel.read(target, at);
            if (read < 0) {
                throw new EOFException(extent.file() + " became shorter");
            }
            at += read;
        }
    }

    /**
     * Returns slabs of at least {@code leastBytes}, if there are as many, that are the whole box.
     *
     * @throws IllegalArgumentException if one would have more than {@code mostBytes}
     */
    static List<Slab> slabs(ChunkWindow window, long leastBytes, long mostBytes) {
        if (window.bytes() == 0) {
            return List.of();
        }
        List<Long> box = window.slowestFirst(window.shape());
        check(window, Array.bytes(window.array().type(), window.data().chunkShape()), mostBytes);
        long rows = box.isEmpty() ? 1 : box.get(0);
        long rowBytes = window.bytes() / rows;
        long from = box.isEmpty() ? 0 : window.slowestFirst(window.from()).get(0);
        long chunkRows = box.isEmpty()
                ? 1
                : window.slowestFirst(window.data().chunkShape()).get(0);
        Map<Long, List<Array.ChunkData>> layers = new LinkedHashMap<>();
        for (Array.ChunkData chunk : window.chunks()) {
            Codecs.check(window.array(), chunk);
            long layer =
                    box.isEmpty() ? 0 : window.slowestFirst(chunk.position()).get(0);
            layers.computeIfAbsent(layer, position -> new ArrayList<>()).add(chunk);
        }
        List<Slab> slabs = new ArrayList<>();
        List<Array.ChunkData> chunks = new ArrayList<>();
        long start = 0;
        for (long row = 0; row < rows; ) {
            long layer = (from + row) / chunkRows;
            long end = Math.min(rows, layer >= (from + rows - 1) / chunkRows ? rows : (layer + 1) * chunkRows - from);
            chunks.addAll(layers.getOrDefault(layer, List.of()));
            row = end;
            long bytes = (row - start) * rowBytes;
            check(window, bytes, mostBytes);
            if (bytes >= leastBytes || row == rows || bytes + chunkRows * rowBytes > mostBytes) {
                slabs.add(new Slab(window, start * rowBytes, bytes, List.copyOf(chunks)));
                chunks.clear();
                start = row;
            }
        }
        return slabs;
    }

    private static void check(ChunkWindow window, long bytes, long mostBytes) {
        if (bytes > mostBytes) {
            throw new IllegalArgumentException("array " + window.array().name() + " needs " + bytes
                    + " bytes of host memory to be assembled from its chunks, more than " + mostBytes
                    + "; see Loader.hostBytes");
        }
    }
}
