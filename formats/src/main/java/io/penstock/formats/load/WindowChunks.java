// SPDX-License-Identifier: Apache-2.0
package io.penstock.formats.load;

import io.penstock.formats.Array;
import io.penstock.formats.ChunkWindow;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.stream.IntStream;

/** The chunks of an array that have elements of a window, and what each shares with its box. */
record WindowChunks(ChunkWindow window) {

    Array array() {
        return window.array();
    }

    Array.Data.Chunked data() {
        return (Array.Data.Chunked) array().data();
    }

    /** Returns the bytes of a chunk once it is decoded. */
    long wholeBytes() {
        return Array.bytes(array().type(), data().chunkShape());
    }

    /** Returns a list with the dimension first that varies slowest. */
    <T> List<T> slowestFirst(List<T> list) {
        if (array().order() == Array.Order.ROW_MAJOR) {
            return list;
        }
        List<T> reversed = new ArrayList<>(list);
        Collections.reverse(reversed);
        return reversed;
    }

    /** Returns the chunks that have elements of the box. */
    List<Array.ChunkData> found() {
        return data().chunks().stream().filter(this::touches).toList();
    }

    private boolean touches(Array.ChunkData chunk) {
        for (int i = 0; i < window.shape().size(); i++) {
            if (low(chunk, i) >= high(chunk, i)) {
                return false;
            }
        }
        return true;
    }

    /** Returns how many chunks the box would have if none were missing. */
    long expected() {
        long expected = 1;
        for (int i = 0; i < window.shape().size(); i++) {
            long size = data().chunkShape().get(i);
            long extent = window.shape().get(i);
            long first = window.from().get(i);
            expected *= extent == 0 ? 0 : (first + extent - 1) / size - first / size + 1;
        }
        return expected;
    }

    private long start(Array.ChunkData chunk, int dimension) {
        return chunk.position().get(dimension) * data().chunkShape().get(dimension);
    }

    private long low(Array.ChunkData chunk, int dimension) {
        return Math.max(start(chunk, dimension), window.from().get(dimension));
    }

    /** A position in the grid is below 2^63 / chunk shape; the end of a chunk at the edge may not be. */
    private long high(Array.ChunkData chunk, int dimension) {
        long end = window.from().get(dimension) + window.shape().get(dimension);
        long start = start(chunk, dimension);
        long size = data().chunkShape().get(dimension);
        return end - start > size ? start + size : end;
    }

    /** Returns what a chunk and the box share. */
    Overlap overlap(Array.ChunkData chunk) {
        List<Integer> order =
                slowestFirst(IntStream.range(0, window.shape().size()).boxed().toList());
        List<Integer> stored = data().dimensionOrder().isEmpty() ? order : data().dimensionOrder();
        long[] chunkStrides = strides(data().chunkShape(), stored);
        long[] boxStrides = strides(window.shape(), order);
        long chunkStart = 0;
        long boxStart = 0;
        List<Overlap.Step> steps = new ArrayList<>();
        for (int d : order) {
            long low = low(chunk, d);
            chunkStart += (low - start(chunk, d)) * chunkStrides[d];
            boxStart += (low - window.from().get(d)) * boxStrides[d];
            steps.add(new Overlap.Step(high(chunk, d) - low, chunkStrides[d], boxStrides[d]));
        }
        return Overlap.of(steps, array().type().blockBytes(), chunkStart, boxStart);
    }

    /** Returns the distance in bytes from an element to the next along each dimension. */
    private long[] strides(List<Long> extents, List<Integer> slowestFirst) {
        long[] strides = new long[extents.size()];
        long stride = array().type().blockBytes();
        for (int i = strides.length - 1; i >= 0; i--) {
            int d = slowestFirst.get(i);
            strides[d] = stride;
            stride *= extents.get(d);
        }
        return strides;
    }
}
