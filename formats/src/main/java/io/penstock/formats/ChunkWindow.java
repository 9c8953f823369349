// SPDX-License-Identifier: Apache-2.0
package io.penstock.formats;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Objects;

/**
 * A part of an array that is stored in chunks: a box of its elements, which lie side by side once loaded.
 *
 * @param array the array; its data are {@link Array.Data.Chunked}
 * @param from the first element of the box in each dimension
 * @param shape the extent of the box in each dimension
 */
public record ChunkWindow(Array array, List<Long> from, List<Long> shape) implements ArraySource {

    /** Copies the lists. */
    public ChunkWindow {
        Objects.requireNonNull(array, "array");
        from = List.copyOf(from);
        shape = List.copyOf(shape);
    }

    /** Bytes that lie side by side in a chunk and in the box. */
    interface Run {
        void at(long chunkOffset, long boxOffset, long length);
    }

    static ChunkWindow all(Array array) {
        return new ChunkWindow(array, Collections.nCopies(array.shape().size(), 0L), array.shape());
    }

    Array.Data.Chunked data() {
        return (Array.Data.Chunked) array.data();
    }

    @Override
    public long bytes() {
        return Array.bytes(array.type(), shape);
    }

    @Override
    public Extent first() {
        List<Array.ChunkData> chunks = data().chunks();
        return chunks.isEmpty() ? new Extent(Path.of(""), 0, 0) : chunks.get(0).extent();
    }

    /** Returns a list with the dimension first that varies slowest. */
    List<Long> slowestFirst(List<Long> list) {
        if (array.order() == Array.Order.ROW_MAJOR) {
            return list;
        }
        List<Long> reversed = new ArrayList<>(list);
        Collections.reverse(reversed);
        return reversed;
    }

    /** Returns the chunks that have elements of the box. */
    List<Array.ChunkData> chunks() {
        return data().chunks().stream().filter(this::touches).toList();
    }

    private boolean touches(Array.ChunkData chunk) {
        for (int i = 0; i < shape.size(); i++) {
            if (low(chunk, i) >= high(chunk, i)) {
                return false;
            }
        }
        return true;
    }

    /** Returns how many chunks the box would have if none were missing. */
    long expectedChunks() {
        long expected = 1;
        for (int i = 0; i < shape.size(); i++) {
            long size = data().chunkShape().get(i);
            long last = (from.get(i) + shape.get(i) - 1) / size;
            expected *= shape.get(i) == 0 ? 0 : last - from.get(i) / size + 1;
        }
        return expected;
    }

    private long start(Array.ChunkData chunk, int dimension) {
        return chunk.position().get(dimension) * data().chunkShape().get(dimension);
    }

    private long low(Array.ChunkData chunk, int dimension) {
        return Math.max(start(chunk, dimension), from.get(dimension));
    }

    /** A position in the grid is below 2^63 / chunk shape; the end of a chunk at the edge may not be. */
    private long high(Array.ChunkData chunk, int dimension) {
        long end = from.get(dimension) + shape.get(dimension);
        long start = start(chunk, dimension);
        return end - start > data().chunkShape().get(dimension)
                ? start + data().chunkShape().get(dimension)
                : end;
    }

    /** Calls {@code run} for each run of a chunk, in the order of the chunk. */
    void runs(Array.ChunkData chunk, Run run) {
        int rank = shape.size();
        List<Long> low = new ArrayList<>();
        List<Long> extent = new ArrayList<>();
        List<Long> start = new ArrayList<>();
        for (int i = 0; i < rank; i++) {
            low.add(low(chunk, i));
            extent.add(high(chunk, i) - low(chunk, i));
            start.add(start(chunk, i));
        }
        new Walk(
                        slowestFirst(low),
                        slowestFirst(extent),
                        slowestFirst(start),
                        slowestFirst(data().chunkShape()),
                        slowestFirst(from),
                        slowestFirst(shape))
                .run(array.type().blockBytes(), run);
    }

    /** The elements that a chunk and the box share; the slowest dimension is first. */
    private record Walk(
            List<Long> low,
            List<Long> extent,
            List<Long> chunkStart,
            List<Long> chunkShape,
            List<Long> boxStart,
            List<Long> boxShape) {

        void run(long elementBytes, Run run) {
            int rank = low.size();
            int inner = rank; // the dimensions from here on are one run
            long length = elementBytes;
            boolean whole = true;
            while (inner > 0 && whole) {
                inner--;
                length *= extent.get(inner);
                whole = extent.get(inner).equals(chunkShape.get(inner))
                        && extent.get(inner).equals(boxShape.get(inner));
            }
            long[] at = new long[inner];
            while (true) {
                long chunk = 0;
                long box = 0;
                for (int i = 0; i < rank; i++) {
                    long position = low.get(i) + (i < inner ? at[i] : 0);
                    chunk = chunk * chunkShape.get(i) + position - chunkStart.get(i);
                    box = box * boxShape.get(i) + position - boxStart.get(i);
                }
                run.at(chunk * elementBytes, box * elementBytes, length);
                int next = inner - 1;
                while (next >= 0 && ++at[next] == extent.get(next)) {
                    at[next] = 0;
                    next--;
                }
                if (next < 0) {
                    return;
                }
            }
        }
    }

    /** Returns the bytes of the runs of the first chunk, or 0 if there is none. */
    long runBytes() {
        long[] bytes = {0};
        List<Array.ChunkData> chunks = chunks();
        if (!chunks.isEmpty()) {
            runs(chunks.get(0), (chunkOffset, boxOffset, length) -> bytes[0] = length);
        }
        return bytes[0];
    }
}
