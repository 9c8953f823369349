// SPDX-License-Identifier: Apache-2.0
package io.penstock.formats;

import io.penstock.DeviceBuffer;
import io.penstock.StorageFile;
import io.penstock.Transfer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The pieces of a file that one transfer moves: many that lie without gaps, or one that is strided.
 *
 * @param pieces at least one
 */
record Batch(List<Piece> pieces) {

    private static final int MOST_PIECES = 16_384; // of a transfer
    private static final long BLOCK = 4096; // long pieces are cut where direct I/O has no edge

    /** Bytes of a file, and where they go; strided if there are several blocks. */
    record Piece(FileBlocks from, int buffer, long offset) {

        long bytes() {
            return from.bytes();
        }

        private long fileEnd() {
            return from.offset() + from.length();
        }

        /**
         * Returns this and the next as one, if they have the same distance in the file as in the buffer, where it is
         * only the gap that aligns the next array. Otherwise returns null.
         */
        @Nullable
        Piece with(Piece next) {
            long gap = next.from.offset() - fileEnd();
            boolean alike = from.count() == 1
                    && next.from.count() == 1
                    && buffer == next.buffer
                    && gap >= 0
                    && gap < Loader.ALIGNMENT
                    && gap == next.offset - (offset + from.length());
            return alike
                    ? new Piece(
                            FileBlocks.of(new Extent(from.file(), from.offset(), next.fileEnd() - from.offset())),
                            buffer,
                            offset)
                    : null;
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

    long bytes() {
        return pieces.stream().mapToLong(Piece::bytes).sum();
    }

    Transfer transfer(StorageFile file, List<DeviceBuffer> buffers) {
        Transfer first = pieces.get(0).transfer(file, buffers);
        if (pieces.size() == 1) {
            return first;
        }
        return first.and(pieces.stream()
                .skip(1)
                .map(piece -> piece.transfer(file, buffers))
                .toList());
    }

    /** Makes transfers of at most {@code mostBytes} bytes; neighbours are read as one where their places permit. */
    static Map<Path, List<Batch>> of(List<LoadPlan.Placement> placements, long mostBytes) {
        Map<Path, List<Piece>> pieces = new LinkedHashMap<>();
        for (LoadPlan.Placement placement : placements) {
            if (placement.bytes() == 0 || placement.throughHost()) {
                continue;
            }
            if (placement.source() instanceof ChunkWindow window) {
                add(pieces, window, placement);
            } else {
                add(pieces, new Piece((FileBlocks) placement.source(), placement.buffer(), placement.offset()));
            }
        }
        Map<Path, List<Batch>> batches = new LinkedHashMap<>();
        pieces.forEach((file, all) -> batches.put(file, packed(all, mostBytes)));
        return batches;
    }

    private static void add(Map<Path, List<Piece>> pieces, ChunkWindow window, LoadPlan.Placement placement) {
        for (Array.ChunkData chunk : window.chunks()) {
            Extent extent = chunk.extent();
            window.runs(chunk, (chunkOffset, boxOffset, length) -> {
                Extent run = new Extent(extent.file(), extent.offset() + chunkOffset, length);
                add(pieces, new Piece(FileBlocks.of(run), placement.buffer(), placement.offset() + boxOffset));
            });
        }
    }

    private static void add(Map<Path, List<Piece>> files, Piece next) {
        List<Piece> pieces = files.computeIfAbsent(next.from().file(), file -> new ArrayList<>());
        int last = pieces.size() - 1;
        Piece both = last < 0 ? null : pieces.get(last).with(next);
        if (both == null) {
            pieces.add(next);
        } else {
            pieces.set(last, both);
        }
    }

    private static List<Batch> packed(List<Piece> pieces, long mostBytes) {
        List<Batch> batches = new ArrayList<>();
        List<Piece> open = new ArrayList<>();
        long bytes = 0;
        for (Piece whole : pieces) {
            for (Piece piece : cut(whole, mostBytes)) {
                boolean strided = piece.from().count() > 1;
                boolean full = bytes + piece.bytes() > mostBytes || open.size() == MOST_PIECES;
                if (!open.isEmpty() && !strided && full) {
                    batches.add(new Batch(List.copyOf(open)));
                    open.clear();
                    bytes = 0;
                }
                if (strided) {
                    batches.add(new Batch(List.of(piece)));
                } else {
                    open.add(piece);
                    bytes += piece.bytes();
                }
            }
        }
        if (!open.isEmpty()) {
            batches.add(new Batch(List.copyOf(open)));
        }
        return List.copyOf(batches);
    }

    /** Cuts a piece into pieces of at most that many bytes. */
    private static List<Piece> cut(Piece piece, long mostBytes) {
        FileBlocks from = piece.from();
        if (piece.bytes() <= mostBytes) {
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
                            FileBlocks.of(new Extent(from.file(), at, next - at)),
                            piece.buffer(),
                            piece.offset() + block * from.length() + at - start));
                    at = next;
                }
            }
            return cut;
        }
        long blocks = mostBytes / from.length();
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
