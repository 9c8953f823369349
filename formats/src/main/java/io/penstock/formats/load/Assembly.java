// SPDX-License-Identifier: Apache-2.0
package io.penstock.formats.load;

import io.penstock.formats.Array;
import io.penstock.formats.ChunkWindow;
import io.penstock.formats.Extent;
import io.penstock.formats.MalformedFileException;
import io.penstock.formats.codec.Codecs;
import io.penstock.formats.read.FileStart;
import io.penstock.formats.read.HeaderBytes;
import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SeekableByteChannel;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Slabs of a box of chunks, assembled in memory of the host: chunks are read, decoded, and put in their places. */
public final class Assembly {

    /** Runs that are shorter are assembled on the host: the device would get a copy for each. */
    static final long STRAIGHT_RUN_BYTES = 4096;

    /** The most memory of the host that a loader can be given. */
    public static final long MOST_HOST_BYTES = 1L << 30;

    /** What messages add where memory of the host does not suffice. */
    public static final String SEE_HOST_BYTES = "see Loader.hostBytes, or --host-memory of penstock load";

    private static final long MOST_STORED_BYTES = Integer.MAX_VALUE - 8; // of a Java array

    private Assembly() {}

    /** Returns whether the chunks can be transferred to their places as they are. */
    public static boolean isStraight(ChunkWindow window) {
        WindowChunks chunks = new WindowChunks(window);
        List<Array.ChunkData> found = chunks.found();
        boolean encoded = found.stream().anyMatch(chunk -> !chunk.codecs().isEmpty());
        boolean missing = found.size() < chunks.expected();
        long run = found.isEmpty() ? 0 : chunks.overlap(found.get(0)).length();
        return !encoded && !missing && (run >= STRAIGHT_RUN_BYTES || run == chunks.wholeBytes());
    }

    /** Returns what happens to chunks, in words: their codecs are undone, and their elements put in their places. */
    public static Set<String> conversions(ChunkWindow window) {
        WindowChunks chunks = new WindowChunks(window);
        Set<String> names = new HashSet<>(Set.of("assembled"));
        if (!chunks.data().dimensionOrder().isEmpty()) {
            names.add("transpose");
        }
        chunks.found().forEach(chunk -> chunk.codecs().forEach(codec -> names.add(Codecs.name(codec))));
        return names;
    }

    /** Rows of the slowest dimension of a box, and the chunks in them. */
    public record Slab(ChunkWindow window, long offset, long bytes, List<Array.ChunkData> chunks) {

        /** Returns the most memory that its reading takes at a time: a chunk is decoded as a whole. */
        public long memoryBytes() {
            long whole = new WindowChunks(window).wholeBytes();
            return chunks.stream()
                    .mapToLong(chunk -> whole + Codecs.memory(chunk.codecs(), whole))
                    .reduce(bytes, Math::max);
        }

        /** Returns the bytes of the slab. */
        public ByteBuffer read() throws IOException {
            ByteBuffer slab = ByteBuffer.allocateDirect((int) bytes);
            WindowChunks all = new WindowChunks(window);
            fill(slab, all.data().fill());
            int chunkBytes = Math.toIntExact(all.wholeBytes());
            for (Array.ChunkData chunk : chunks) {
                try {
                    byte[] decoded = Codecs.decode(chunk.codecs(), stored(chunk.extent()), chunkBytes);
                    all.overlap(chunk).copy(ByteBuffer.wrap(decoded), slab, offset);
                } catch (Codecs.Malformed e) {
                    throw malformed(chunk, e);
                }
            }
            return slab;
        }

        /** Fills by doubling what is filled. */
        private static void fill(ByteBuffer slab, List<Byte> fill) {
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
    public static void read(SeekableByteChannel channel, ByteBuffer target, Extent extent) throws IOException {
        channel.position(extent.offset());
        while (target.hasRemaining()) {
            int read = HeaderBytes.readSome(channel, target);
            if (read < 0) {
                throw new EOFException(extent.file() + " became shorter");
            }
        }
    }

    /**
     * Checks that none of the chunks that must be there is missing.
     *
     * @throws IllegalArgumentException if one is; the message follows the name of the array
     */
    public static void checkComplete(ChunkWindow window) {
        WindowChunks chunks = new WindowChunks(window);
        int found = chunks.found().size();
        if (found < chunks.expected()) {
            throw new IllegalArgumentException(
                    "has " + found + " of " + chunks.expected() + " chunks: the others are missing");
        }
    }

    /**
     * Checks that the chunks can be decoded, and assembled layer by layer in that much memory.
     *
     * @throws IllegalArgumentException if not; the message follows the name of the array
     */
    public static void check(ChunkWindow window, long mostBytes) {
        if (window.bytes() == 0) {
            return;
        }
        WindowChunks chunks = new WindowChunks(window);
        long whole = chunks.wholeBytes();
        check(whole, mostBytes);
        long mostStored = Math.min(2 * mostBytes, MOST_STORED_BYTES); // what does not compress becomes a little longer
        for (Array.ChunkData chunk : chunks.found()) {
            long stored = chunk.extent().length();
            try {
                Codecs.check(chunk.codecs(), stored, whole);
            } catch (Codecs.Malformed e) {
                throw malformed(chunk, e);
            }
            if (stored > mostStored) {
                throw new IllegalArgumentException("has a chunk of " + stored + " bytes in its file, more than "
                        + (stored > MOST_STORED_BYTES
                                ? "the " + MOST_STORED_BYTES + " that a chunk can have here"
                                : mostStored + "; " + SEE_HOST_BYTES));
            }
        }
        Layers layers = Layers.of(chunks);
        long first = layers.end(0);
        long rows = Math.max(first, Math.min(layers.rows - first, layers.chunkRows));
        check(rows * layers.rowBytes, mostBytes);
    }

    private static void check(long bytes, long mostBytes) {
        if (bytes > mostBytes) {
            throw new IllegalArgumentException(
                    "needs " + bytes + " bytes of host memory to be assembled from its chunks, more than "
                            + (bytes > MOST_HOST_BYTES
                                    ? "the " + MOST_HOST_BYTES + " that a chunk can have here"
                                    : mostBytes + "; " + SEE_HOST_BYTES));
        }
    }

    private static MalformedFileException malformed(Array.ChunkData chunk, Codecs.Malformed complaint) {
        return new MalformedFileException(
                chunk.extent().file(),
                "encoded",
                FileStart.explained(
                        "chunk " + chunk.position() + " at byte "
                                + chunk.extent().offset() + ": " + complaint.getMessage(),
                        chunk.extent().file()));
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

        static Layers of(WindowChunks chunks) {
            ChunkWindow window = chunks.window();
            if (window.shape().isEmpty()) {
                return new Layers(0, 1, window.bytes(), 1);
            }
            long rows = first(chunks, window.shape());
            return new Layers(
                    first(chunks, window.from()),
                    rows,
                    window.bytes() / rows,
                    first(chunks, chunks.data().chunkShape()));
        }

        private static long first(WindowChunks chunks, List<Long> list) {
            return chunks.slowestFirst(list).get(0);
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
    public static List<Slab> slabs(ChunkWindow window, long leastBytes, long mostBytes) {
        check(window, mostBytes);
        if (window.bytes() == 0) {
            return List.of();
        }
        WindowChunks all = new WindowChunks(window);
        Layers layers = Layers.of(all);
        Map<Long, List<Array.ChunkData>> chunks = new HashMap<>();
        for (Array.ChunkData chunk : all.found()) {
            long layer = chunk.position().isEmpty() ? 0 : Layers.first(all, chunk.position());
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
