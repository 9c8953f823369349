// SPDX-License-Identifier: Apache-2.0
package io.penstock.formats.read;

import io.penstock.formats.Array;
import io.penstock.formats.Extent;
import io.penstock.formats.codec.Codecs;
import java.io.IOException;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.apache.arrow.flatbuf.BodyCompression;
import org.apache.arrow.flatbuf.CompressionType;
import org.apache.arrow.flatbuf.FieldNode;
import org.jspecify.annotations.Nullable;

/**
 * Buffers in the bodies of record batches: as they are, or each after its length once decompressed, in 8 bytes.
 *
 * @param codec the compression, or null if there is none
 */
record ArrowBodies(HeaderBytes bytes, Path path, @Nullable String codec) {

    private static final int MOST_PADDING = 64; // bytes behind the elements of a buffer
    private static final int MOST_EMPTY = 32; // of a frame without content
    private static final long NOT_COMPRESSED = -1; // where compression did not pay

    static ArrowBodies of(HeaderBytes bytes, Path path, @Nullable BodyCompression compression) {
        if (compression == null) {
            return new ArrowBodies(bytes, path, null);
        }
        if (compression.method() != 0) {
            throw bytes.malformed("bodies compressed as a whole (method " + compression.method() + ") are unknown");
        }
        return new ArrowBodies(
                bytes,
                path,
                switch (compression.codec()) {
                    case CompressionType.LZ4_FRAME -> "lz4-frame";
                    case CompressionType.ZSTD -> "zstd";
                    default -> throw bytes.malformed("compression " + compression.codec() + " is unknown");
                });
    }

    /**
     * Returns the array of a buffer; null if it has no bytes, or none once decompressed, as Arrow Java writes them.
     *
     * @param end the most that the last of offsets may be
     */
    @Nullable
    Array array(String name, ArrowLayout.Buffer buffer, FieldNode field, long end, Extent extent, ByteOrder order)
            throws IOException {
        if (extent.length() == 0) {
            return null;
        }
        long available = extent.length();
        Extent stored = extent;
        boolean compressed = codec != null;
        if (compressed) {
            bytes.seek(extent.offset(), name);
            long length = bytes.remaining() < Long.BYTES || extent.length() < Long.BYTES
                    ? -2
                    : bytes.next(Long.BYTES, name).getLong();
            compressed = length != NOT_COMPRESSED;
            if (length < NOT_COMPRESSED) {
                throw bytes.malformed("buffer " + name + " must begin with its length");
            }
            if (length == 0 && extent.length() <= Long.BYTES + MOST_EMPTY) {
                return null;
            }
            stored = new Extent(path, extent.offset() + Long.BYTES, extent.length() - Long.BYTES);
            available = compressed ? length : stored.length();
        }
        int width = buffer.type().blockBytes();
        long elements = elements(buffer, field.length(), available / width);
        check(name, buffer, elements, available, compressed);
        if (!compressed) {
            Extent data = new Extent(path, stored.offset(), elements * width); // without padding
            return array(name, buffer, elements, order, data);
        }
        String rising = Codecs.offsets(width, order, elements, end, name);
        List<Long> shape = shape(buffer, elements);
        long padding = available - elements * width;
        Array.ChunkData chunk = new Array.ChunkData(
                Collections.nCopies(shape.size(), 0L), stored, codecs(name, buffer, field, rising, padding));
        Array.Data data = new Array.Data.Chunked(shape, List.of(), List.of(chunk), List.of());
        return array(name, buffer, elements, order, data);
    }

    private List<String> codecs(String name, ArrowLayout.Buffer buffer, FieldNode field, String rising, long padding) {
        List<String> codecs = new ArrayList<>();
        if (buffer.role().equals(ArrowLayout.VALIDITY)) {
            codecs.add(Codecs.nulls(field.length(), field.nullCount(), name));
        } else if (buffer.count() == ArrowLayout.Count.ROWS_AND_ONE) {
            codecs.add(rising);
        }
        if (padding > 0) {
            codecs.add(Codecs.padding(padding));
        }
        codecs.add(String.valueOf(codec));
        return codecs;
    }

    private void check(String name, ArrowLayout.Buffer buffer, long elements, long available, boolean compressed) {
        if (elements < 0 || elements > available / buffer.type().blockBytes()) {
            throw bytes.malformed("buffer " + name + " must have " + elements + " elements of " + buffer.type()
                    + ", but has " + available + " bytes");
        }
        if (compressed && available < buffer.type().blockBytes()) {
            throw bytes.malformed("buffer " + name + " has " + available + " bytes, less than an element");
        }
        if (compressed
                && available - elements * buffer.type().blockBytes() > MOST_PADDING) { // memory is allocated for it
            throw bytes.malformed("buffer " + name + " must have " + elements + " elements of " + buffer.type()
                    + ", but would have " + available + " bytes once decompressed");
        }
    }

    private static Array array(
            String name, ArrowLayout.Buffer buffer, long elements, ByteOrder order, Array.Data data) {
        return new Array(name, buffer.type(), shape(buffer, elements), order, Array.Order.ROW_MAJOR, data);
    }

    /** Lists of fixed size are the rows of a matrix. */
    private static List<Long> shape(ArrowLayout.Buffer buffer, long elements) {
        long columns = buffer.columns();
        return columns > 0 && elements > 0 && elements % columns == 0
                ? List.of(elements / columns, columns)
                : List.of(elements);
    }

    private static long elements(ArrowLayout.Buffer buffer, long rows, long available) {
        return switch (buffer.count()) {
            case ROWS -> rows;
            case ROWS_AND_ONE -> rows == Long.MAX_VALUE ? -1 : rows + 1;
            case BITS_OF_ROWS -> rows / Byte.SIZE + (rows % Byte.SIZE == 0 ? 0 : 1);
            case ANY -> available;
        };
    }
}
