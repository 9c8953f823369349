// SPDX-License-Identifier: Apache-2.0
package io.penstock.formats;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Objects;
import java.util.stream.IntStream;

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
    <T> List<T> slowestFirst(List<T> list) {
        if (array.order() == Array.Order.ROW_MAJOR) {
            return list;
        }
        List<T> reversed = new ArrayList<>(list);
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

    /** Returns what a chunk and the box share. */
    Overlap overlap(Array.ChunkData chunk) {
        List<Integer> order =
                slowestFirst(IntStream.range(0, shape.size()).boxed().toList());
        List<Integer> stored = data().dimensionOrder().isEmpty() ? order : data().dimensionOrder();
        long[] chunkStrides = strides(data().chunkShape(), stored);
        long[] boxStrides = strides(shape, order);
        long chunkStart = 0;
        long boxStart = 0;
        List<Overlap.Step> steps = new ArrayList<>();
        for (int d : order) {
            long low = low(chunk, d);
            chunkStart += (low - start(chunk, d)) * chunkStrides[d];
            boxStart += (low - from.get(d)) * boxStrides[d];
            steps.add(new Overlap.Step(high(chunk, d) - low, chunkStrides[d], boxStrides[d]));
        }
        return Overlap.of(steps, array.type().blockBytes(), chunkStart, boxStart);
    }

    /** Returns the distance in bytes from an element to the next along each dimension. */
    private long[] strides(List<Long> extents, List<Integer> slowestFirst) {
        long[] strides = new long[extents.size()];
        long stride = array.type().blockBytes();
        for (int i = strides.length - 1; i >= 0; i--) {
            int d = slowestFirst.get(i);
            strides[d] = stride;
            stride *= extents.get(d);
        }
        return strides;
    }

    /** Returns the bytes of the runs of the first chunk, or 0 if there is none. */
    long runBytes() {
        List<Array.ChunkData> chunks = chunks();
        return chunks.isEmpty() ? 0 : overlap(chunks.get(0)).length();
    }
}
