// SPDX-License-Identifier: Apache-2.0
package io.penstock.formats.load;

import io.penstock.DeviceBuffer;
import io.penstock.StorageFile;
import io.penstock.Transfer;
import io.penstock.formats.Array;
import io.penstock.formats.ArraySource;
import io.penstock.formats.ChunkWindow;
import io.penstock.formats.Extent;
import io.penstock.formats.FileBlocks;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The pieces of a file that one transfer moves: many that lie without gaps, or one that is strided.
 *
 * @param pieces at least one
 * @param isWhole whether they are of whole arrays, as every device has them; else of slices
 */
public record Batch(List<Piece> pieces, boolean isWhole) {

    private static final int MOST_PIECES = 16_384; // of a transfer, and blocks of a gather: each takes memory
    private static final long BLOCK = 4096; // long pieces are cut where direct I/O has no edge

    /** Bytes of a file, and where they go; strided if there are several blocks. */
    public record Piece(FileBlocks from, int buffer, long offset) {

        /** Returns the bytes of all blocks. */
        public long bytes() {
            return from.bytes();
        }

        Transfer transfer(StorageFile file, List<DeviceBuffer> buffers) {
            DeviceBuffer target = buffers.get(buffer);
            if (from.count() == 1) {
                return Transfer.read(file.region(from.offset(), from.length()), target.region(offset, from.length()));
            }
            long[] offsets = new long[Math.toIntExact(from.count())];
            for (int i = 0; i < offsets.length; i++) {
                offsets[i] = from.offset() + i * from.stride();
            }
            return Transfer.gather(file, offsets, Math.toIntExact(from.length()), target.region(offset, bytes()));
        }
    }

    /** Returns the bytes of all pieces. */
    public long bytes() {
        return pieces.stream().mapToLong(Piece::bytes).sum();
    }

    /** Returns the transfer that moves them. */
    public Transfer transfer(StorageFile file, List<DeviceBuffer> buffers) {
        Transfer first = pieces.get(0).transfer(file, buffers);
        if (pieces.size() == 1) {
            return first;
        }
        return first.and(pieces.stream()
                .skip(1)
                .map(piece -> piece.transfer(file, buffers))
                .toList());
    }

    /** The pieces of a file, in their order. The last one grows while the next bytes join it. */
    private static final class FileBuilder {

        private final Path file;
        private final boolean isWhole; // of whole arrays
        private final List<Piece> closed = new ArrayList<>();
        private long start; // of the last piece in the file, as are the next four
        private long length; // 0 if there is none that may grow
        private int buffer;
        private long target;
        private long gapBehind; // that may be read with the last piece

        FileBuilder(Path file, boolean isWhole) {
            this.file = file;
            this.isWhole = isWhole;
        }

        /**
         * Adds bytes of the file.
         *
         * @param mostGap how many bytes may be read between them and others, for no one; 0 for a part of an array,
         *     since other parts may have their places there
         */
        void add(long offset, long bytes, int intoBuffer, long at, long mostGap) {
            if (joins(offset, intoBuffer, at, Math.min(mostGap, gapBehind))) {
                length = offset + bytes - start;
                return;
            }
            close();
            gapBehind = mostGap;
            start = offset;
            length = bytes;
            buffer = intoBuffer;
            target = at;
        }

        void add(FileBlocks strided, int intoBuffer, long at) {
            close();
            closed.add(new Piece(strided, intoBuffer, at));
        }

        /**
         * Their distance must be the same in the file and in the buffer, where it is only the gap that aligns an array.
         */
        private boolean joins(long offset, int intoBuffer, long at, long mostGap) {
            long gap = offset - start - length;
            return length > 0 && intoBuffer == buffer && gap >= 0 && gap <= mostGap && gap == at - target - length;
        }

        List<Piece> close() {
            if (length > 0) {
                closed.add(new Piece(block(file, start, length), buffer, target));
                length = 0;
            }
            return closed;
        }
    }

    /** The pieces of files; neighbours are one where their places permit. Not thread-safe. */
    public static final class Builder {

        private final long mostGap;
        private final Map<Path, FileBuilder> files = new LinkedHashMap<>(); // of whole arrays
        private final Map<Path, FileBuilder> slices = new LinkedHashMap<>();
        private @Nullable FileBuilder last; // most arrays lie in the same file as the array before

        /** Starts without pieces; {@code mostGap} bytes may be read between arrays, for no one. */
        public Builder(long mostGap) {
            this.mostGap = mostGap;
        }

        /** Adds the bytes of an array, or of a slice of it. */
        public void add(ArraySource source, boolean isWhole, int buffer, long at) {
            if (source instanceof Extent extent) {
                add(extent, isWhole, buffer, at);
            } else if (source instanceof FileBlocks blocks) {
                of(blocks.file(), false).add(blocks, buffer, at); // a gather cannot be shared
            } else {
                add((ChunkWindow) source, buffer, at, isWhole);
            }
        }

        private void add(Extent extent, boolean isWhole, int buffer, long at) {
            of(extent.file(), isWhole).add(extent.offset(), extent.length(), buffer, at, mostGap);
        }

        private void add(ChunkWindow window, int buffer, long at, boolean isWhole) {
            WindowChunks chunks = new WindowChunks(window);
            for (Array.ChunkData chunk : chunks.found()) {
                Extent extent = chunk.extent();
                FileBuilder pieces = of(extent.file(), isWhole);
                chunks.overlap(chunk)
                        .runs((chunkOffset, boxOffset, length) ->
                                pieces.add(extent.offset() + chunkOffset, length, buffer, at + boxOffset, 0));
            }
        }

        private FileBuilder of(Path file, boolean isWhole) {
            FileBuilder pieces = last;
            if (pieces == null
                    || pieces.file != file
                    || pieces.isWhole != isWhole) { // an equal path may be another object
                pieces = (isWhole ? files : slices).computeIfAbsent(file, path -> new FileBuilder(path, isWhole));
                last = pieces;
            }
            return pieces;
        }

        /** Makes transfers of at most that many bytes. */
        public Map<Path, List<Batch>> build(long mostBytes) {
            Map<Path, List<Batch>> batches = new LinkedHashMap<>();
            files.forEach((file, pieces) -> batches.put(file, packed(pieces, mostBytes)));
            slices.forEach((file, pieces) -> batches.merge(
                    file,
                    packed(pieces, mostBytes),
                    (a, b) -> Stream.concat(a.stream(), b.stream()).toList()));
            return batches;
        }
    }

    private static FileBlocks block(Path file, long offset, long length) {
        return new FileBlocks(file, offset, length, length, 1);
    }

    private static List<Batch> packed(FileBuilder pieces, long mostBytes) {
        List<Batch> batches = new ArrayList<>();
        List<Piece> open = new ArrayList<>();
        long bytes = 0;
        for (Piece whole : pieces.close()) {
            for (Piece piece : cut(whole, mostBytes)) {
                boolean strided = piece.from().count() > 1;
                boolean full = bytes + piece.bytes() > mostBytes || open.size() == MOST_PIECES;
                if (!open.isEmpty() && !strided && full) {
                    batches.add(new Batch(List.copyOf(open), pieces.isWhole));
                    open.clear();
                    bytes = 0;
                }
                if (strided) {
                    batches.add(new Batch(List.of(piece), pieces.isWhole));
                } else {
                    open.add(piece);
                    bytes += piece.bytes();
                }
            }
        }
        if (!open.isEmpty()) {
            batches.add(new Batch(List.copyOf(open), pieces.isWhole));
        }
        return List.copyOf(batches);
    }

    /** Cuts a piece into pieces of at most that many bytes, and not too many blocks. */
    private static List<Piece> cut(Piece piece, long mostBytes) {
        FileBlocks from = piece.from();
        if (piece.bytes() <= mostBytes && from.count() <= MOST_PIECES) {
            return List.of(piece);
        }
        List<Piece> cut = new ArrayList<>();
        if (from.length() > mostBytes) {
            for (long block = 0; block < from.count(); block++) {
                long start = from.offset() + block * from.stride();
                long end = start + from.length();
                for (long at = start; at < end; ) {
                    long next = at + mostBytes < end ? Math.max((at + mostBytes) / BLOCK * BLOCK, at + 1) : end;
                    cut.add(new Piece(
                            block(from.file(), at, next - at),
                            piece.buffer(),
                            piece.offset() + block * from.length() + at - start));
                    at = next;
                }
            }
            return cut;
        }
        long blocks = Math.min(mostBytes / from.length(), MOST_PIECES);
        for (long first = 0; first < from.count(); first += blocks) {
            long count = Math.min(blocks, from.count() - first);
            long start = from.offset() + first * from.stride();
            cut.add(new Piece(
                    new FileBlocks(from.file(), start, from.length(), from.stride(), count),
                    piece.buffer(),
                    piece.offset() + first * from.length()));
        }
        return cut;
    }
}
