// SPDX-License-Identifier: Apache-2.0
package io.penstock.formats.read;

import io.penstock.formats.Array;
import io.penstock.formats.ElementType;
import io.penstock.formats.Extent;
import io.penstock.formats.MalformedFileException;
import io.penstock.formats.codec.Codecs;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.apache.arrow.flatbuf.FieldNode;
import org.apache.arrow.flatbuf.RecordBatch;
import org.jspecify.annotations.Nullable;

/**
 * What the buffers of a record batch say of each other: how many rows are null, and that offsets, views, indices, types
 * and run ends lead to what there is. A null may lead anywhere, but offsets rise through nulls too.
 */
final class ArrowContents {

    private static final int PART_BYTES = 1 << 20; // of a buffer, at a time
    private static final int INLINE = 12; // bytes of a text that are in its view
    private static final Set<String> COMPARED =
            Set.of(ArrowLayout.VALIDITY, ArrowLayout.OFFSETS, ArrowLayout.SIZES, ArrowLayout.VIEWS, ArrowLayout.TYPES);
    private static final Set<ElementType> RUN_ENDS = Set.of(ElementType.I16, ElementType.I32, ElementType.I64);

    private final HeaderBytes bytes;
    private final RecordBatch batch;
    private final ArrowLayout layout;
    private final List<ArrowLayout.Buffer> buffers;
    private final List<@Nullable Array> arrays; // of the buffers

    ArrowContents(
            HeaderBytes bytes,
            RecordBatch batch,
            ArrowLayout layout,
            List<ArrowLayout.Buffer> buffers,
            List<@Nullable Array> arrays) {
        this.bytes = bytes;
        this.batch = batch;
        this.layout = layout;
        this.buffers = buffers;
        this.arrays = arrays;
    }

    /** Returns whether the array, if it is one of an Arrow file, may have to be compared with others. */
    static boolean concerns(Array array) {
        String name = array.name();
        String role = name.substring(name.lastIndexOf('/') + 1);
        return COMPARED.contains(role)
                || role.startsWith(ArrowLayout.INDICES)
                || role.equals(ArrowLayout.DATA) && RUN_ENDS.contains(array.type());
    }

    /** Returns whether the rows of that buffer are offsets of texts in the next one. */
    boolean isOfTexts(int index) {
        return buffers.get(index).count() == ArrowLayout.Count.ROWS_AND_ONE
                && isSibling(index, index + 1, ArrowLayout.DATA);
    }

    private boolean isSibling(int index, int other, String role) {
        return other < buffers.size()
                && buffers.get(other).node() == buffers.get(index).node()
                && buffers.get(other).role().equals(role);
    }

    /** Returns how many bytes or rows there are to which that buffer leads; its data must be in the arrays by now. */
    long end(int index) {
        if (isOfTexts(index)) {
            Array data = arrays.get(index + 1);
            return data == null ? 0 : data.bytes();
        }
        int child = buffers.get(index).node() + 1; // children are numbered after their parent
        return child < batch.nodesLength() ? node(child).length() : 0;
    }

    private FieldNode node(int number) {
        return Objects.requireNonNull(batch.nodes(number), "node");
    }

    /** Compares a buffer with the others; {@code dictionary} is the number of values in the dictionary of its indices. */
    void check(int index, long dictionary) throws IOException {
        ArrowLayout.Buffer buffer = buffers.get(index);
        switch (buffer.role()) {
            case ArrowLayout.VALIDITY -> nulls(index);
            case ArrowLayout.VIEWS -> views(index);
            case ArrowLayout.SIZES -> lists(index - 1, index);
            case ArrowLayout.TYPES -> types(index);
            case ArrowLayout.DATA -> runs(index);
            case ArrowLayout.OFFSETS -> {
                if (buffer.count() == ArrowLayout.Count.ROWS_AND_ONE) {
                    rising(index);
                } else if (isSibling(index, index + 1, ArrowLayout.SIZES)) {
                    lists(index, index);
                } else {
                    places(index);
                }
            }
            default -> indices(index, dictionary);
        }
    }

    private void nulls(int index) throws IOException {
        FieldNode field = node(buffers.get(index).node());
        Elements bitmap = new Elements(index);
        long nulls = 0;
        for (long row = 0; row < field.length(); row++) {
            nulls += bitmap.bit(row) ? 0 : 1;
        }
        if (nulls != field.nullCount()) {
            throw bitmap.malformed(Codecs.contradiction(field.length(), field.nullCount(), nulls));
        }
    }

    private void rising(int index) throws IOException {
        Elements offsets = new Elements(index);
        long end = end(index);
        long before = 0;
        for (long i = 0; i < offsets.count(); i++) {
            long offset = offsets.number(i);
            if (offset < before || offset > end) {
                throw offsets.malformed(Codecs.outside(i, offset, before, end));
            }
            before = offset;
        }
    }

    private void lists(int index, int compared) throws IOException {
        Elements offsets = new Elements(index);
        Elements sizes = new Elements(index + 1);
        Elements valid = new Elements(index - 1);
        long end = end(index);
        for (long row = 0; row < offsets.count(); row++) {
            long offset = offsets.number(row);
            long size = sizes.number(row);
            if ((offset < 0 || size < 0 || size > end - offset) && valid.bit(row)) {
                throw new Elements(compared)
                        .malformed("row " + row + " has " + size + " elements from " + offset + " on, of " + end);
            }
        }
    }

    private void views(int index) throws IOException {
        Elements views = new Elements(index);
        Elements valid = new Elements(index - 1);
        int parts = 0;
        while (isSibling(index, index + parts + 1, ArrowLayout.DATA + " " + parts)) {
            parts++;
        }
        for (long row = 0; row < views.count(); row++) {
            ByteBuffer view = views.at(row);
            int at = view.position();
            int length = view.getInt(at);
            int part = view.getInt(at + 2 * Integer.BYTES);
            long offset = view.getInt(at + 3 * Integer.BYTES);
            boolean isKnown = part >= 0 && part < parts;
            Array data = isKnown ? arrays.get(index + 1 + part) : null;
            boolean fits = length <= INLINE || data != null && offset >= 0 && length <= data.bytes() - offset;
            if ((length < 0 || !fits) && valid.bit(row)) {
                throw views.malformed("row " + row + " has " + length + " bytes from " + offset + " on of data " + part
                        + ", which has " + (data == null ? 0 : data.bytes()) + "; there are data 0 to " + (parts - 1));
            }
        }
    }

    /** The types of a union's rows; a null, which unions before V5 have, may have any. */
    private void types(int index) throws IOException {
        Map<Integer, Integer> fields = layout.union(buffers.get(index).node());
        Elements types = new Elements(index);
        for (long row = 0; row < types.count(); row++) {
            if (!fields.containsKey((int) types.number(row)) && isOfUnion(index - 1, index, row)) {
                throw types.malformed(
                        "row " + row + " has the type " + types.number(row) + ", but there are " + fields.keySet());
            }
        }
    }

    /** The offsets of a dense union's rows, each in the field of its type. */
    private void places(int index) throws IOException {
        Map<Integer, Integer> fields = layout.union(buffers.get(index).node());
        Elements offsets = new Elements(index);
        Elements types = new Elements(index - 1);
        for (long row = 0; row < offsets.count(); row++) {
            long offset = offsets.number(row);
            Integer field = fields.get((int) types.number(row));
            long rows = field == null ? 0 : node(field).length();
            if ((offset < 0 || offset >= rows) && isOfUnion(index - 2, index, row)) {
                throw offsets.malformed("row " + row + " is row " + offset + " of " + rows + " of its type");
            }
        }
    }

    /** Returns whether a row is not null, by the bitmap, which unions have before V5. */
    private boolean isOfUnion(int bitmap, int index, long row) throws IOException {
        return bitmap < 0 || !isSibling(index, bitmap, ArrowLayout.VALIDITY) || new Elements(bitmap).bit(row);
    }

    private void runs(int index) throws IOException {
        Integer field = layout.ofRuns(buffers.get(index).node());
        if (field == null) {
            return;
        }
        Elements ends = new Elements(index);
        long before = 0;
        for (long i = 0; i < ends.count(); i++) {
            long end = ends.number(i);
            if (end <= before) {
                throw ends.malformed("run " + i + " ends at " + end + ", but the one before it at " + before);
            }
            before = end;
        }
        if (before < node(field).length()) {
            throw ends.malformed(
                    "the last run ends at " + before + " of " + node(field).length() + " rows");
        }
    }

    private void indices(int index, long values) throws IOException {
        Elements indices = new Elements(index);
        Elements valid = new Elements(index - 1);
        for (long row = 0; row < indices.count(); row++) {
            long value = indices.number(row);
            if ((value < 0 || value >= values) && valid.bit(row)) {
                throw indices.malformed("row " + row + " has the index " + value + " of " + values + " values");
            }
        }
    }

    /** The elements of a buffer, read as they are asked for. */
    private final class Elements {

        private final @Nullable Array array; // null: a bitmap that is left out, since all rows are valid
        private final int width;
        private ByteBuffer part = ByteBuffer.allocate(0);
        private long first; // of the part

        Elements(int index) {
            array = arrays.get(index);
            width = buffers.get(index).type().blockBytes();
        }

        long count() {
            return array == null ? 0 : array.elements();
        }

        /** Returns whether a row is not null. */
        boolean bit(long row) throws IOException {
            if (array == null) {
                return true;
            }
            ByteBuffer bits = at(row / Byte.SIZE);
            return (bits.get(bits.position()) >> row % Byte.SIZE & 1) != 0;
        }

        long number(long index) throws IOException {
            ByteBuffer element = at(index);
            int at = element.position();
            return switch (width) {
                case Byte.BYTES -> isUnsigned() ? Byte.toUnsignedLong(element.get(at)) : element.get(at);
                case Short.BYTES -> isUnsigned() ? Short.toUnsignedLong(element.getShort(at)) : element.getShort(at);
                case Integer.BYTES -> isUnsigned() ? Integer.toUnsignedLong(element.getInt(at)) : element.getInt(at);
                default -> element.getLong(at);
            };
        }

        private boolean isUnsigned() {
            return Set.of(ElementType.U8, ElementType.U16, ElementType.U32).contains(array().type());
        }

        /** Returns the bytes of an element, from the position on. */
        ByteBuffer at(long index) throws IOException {
            if (index < first || index >= first + part.capacity() / width) {
                first = index;
                part = ByteBuffer.wrap(read(array(), index * width)).order(array().byteOrder());
            }
            return part.position((int) (index - first) * width);
        }

        /** Returns bytes from an offset on; of what is encoded all, at once. */
        private byte[] read(Array array, long offset) throws IOException {
            if (array.data() instanceof Extent extent) {
                bytes.seek(extent.offset() + offset, array.name());
                return bytes.bytes(
                        (int) Math.min(extent.length() - offset, PART_BYTES - PART_BYTES % width), array.name());
            }
            Array.Data.Chunked data = (Array.Data.Chunked) array.data();
            Array.ChunkData chunk = data.chunks().get(0);
            Extent stored = chunk.extent();
            bytes.seek(stored.offset(), array.name());
            byte[] all = bytes.bytes(Math.toIntExact(stored.length()), array.name());
            try {
                return Codecs.decode(
                        chunk.codecs(), all, Math.toIntExact(data.chunkShape().get(0) * width));
            } catch (Codecs.Malformed e) {
                throw malformed(String.valueOf(e.getMessage()));
            }
        }

        private Array array() {
            return Objects.requireNonNull(array);
        }

        MalformedFileException malformed(String complaint) {
            return bytes.malformed("buffer " + array().name() + " at byte "
                    + ArrowReader.place(array()).offset() + ": " + complaint);
        }
    }
}
