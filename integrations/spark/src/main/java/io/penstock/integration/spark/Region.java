// SPDX-License-Identifier: Apache-2.0
package io.penstock.integration.spark;

import io.penstock.formats.Array;
import java.io.Serializable;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What a row of the source describes: an array, a region of one, or a region of a file.
 *
 * @param path the file
 * @param name the name of the array, or of the file
 * @param elements what the bytes mean; null for bytes of a file that was not parsed
 * @param offset where the bytes start in the file; {@link #IN_CHUNKS} if they lie there in chunks, which may be
 *     compressed
 * @param length how many they are, decoded
 */
public record Region(String path, String name, @Nullable Elements elements, long offset, long length)
        implements Serializable {

    /** The offset of an array whose elements lie in chunks. */
    public static final long IN_CHUNKS = -1;

    /**
     * What the bytes of an array mean.
     *
     * @param dtype the type of the elements, such as {@code BF16}
     * @param shape the extent of each dimension of the whole array; empty for a scalar
     * @param byteOrder {@code LITTLE_ENDIAN} or {@code BIG_ENDIAN}
     * @param order {@code ROW_MAJOR} or {@code COLUMN_MAJOR}
     */
    public record Elements(String dtype, List<Long> shape, String byteOrder, String order) implements Serializable {

        /** Copies the list. */
        public Elements {
            shape = List.copyOf(shape);
        }

        static Elements of(Array array) {
            return new Elements(
                    array.type().name(),
                    array.shape(),
                    array.byteOrder().toString(),
                    array.order().name());
        }
    }

    /** Returns whether the bytes lie in the file as they are, in one place. */
    public boolean isContiguous() {
        return offset != IN_CHUNKS;
    }

    /** Returns a part of this region. */
    Region part(long start, long bytes) {
        return new Region(path, name, elements, offset + start, bytes);
    }

    /** Returns {@code 4096 bytes at 512 of /data/model.safetensors, lm_head.weight}. */
    @Override
    public String toString() {
        return length + " bytes" + (isContiguous() ? " at " + offset : "") + " of " + path + ", " + name;
    }
}
