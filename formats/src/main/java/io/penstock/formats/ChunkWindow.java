// SPDX-License-Identifier: Apache-2.0
package io.penstock.formats;

import java.nio.file.Path;
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

    static ChunkWindow all(Array array) {
        return new ChunkWindow(array, Collections.nCopies(array.shape().size(), 0L), array.shape());
    }

    @Override
    public long bytes() {
        return Array.bytes(array.type(), shape);
    }

    @Override
    public Extent first() {
        List<Array.ChunkData> chunks = ((Array.Data.Chunked) array.data()).chunks();
        return chunks.isEmpty() ? new Extent(Path.of(""), 0, 0) : chunks.get(0).extent();
    }
}
