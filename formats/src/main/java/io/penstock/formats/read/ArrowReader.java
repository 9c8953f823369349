// SPDX-License-Identifier: Apache-2.0
package io.penstock.formats.read;

import io.penstock.formats.Array;
import io.penstock.formats.ArrayFile;
import io.penstock.formats.ElementType;
import io.penstock.formats.Extent;
import io.penstock.formats.FormatOption;
import io.penstock.formats.MalformedFileException;
import java.io.IOException;
import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.LongStream;
import org.apache.arrow.flatbuf.DictionaryBatch;
import org.apache.arrow.flatbuf.DictionaryEncoding;
import org.apache.arrow.flatbuf.Endianness;
import org.apache.arrow.flatbuf.Field;
import org.apache.arrow.flatbuf.FieldNode;
import org.apache.arrow.flatbuf.KeyValue;
import org.apache.arrow.flatbuf.Message;
import org.apache.arrow.flatbuf.MessageHeader;
import org.apache.arrow.flatbuf.RecordBatch;
import org.apache.arrow.flatbuf.Schema;
import org.jspecify.annotations.Nullable;

/**
 * Arrow's IPC formats, the file, which is Feather's version 2, and the stream: each buffer of each record batch is an
 * array of one dimension, named {@code 0/column/data} by its batch, field and role. Buffers without bytes, such as the
 * validity of fields without nulls, are left out.
 */
public final class ArrowReader {

    private static final int MOST_DEPTH = 64; // of fields
    private static final int MOST_PATH = 4096; // characters: the path is in the name of each buffer of each batch
    private static final int LEAST_FIELD_BYTES = 8; // of the footer: two offsets
    private static final int PLACE_BYTES = 16; // of a buffer in a message: offset, length
    private static final int ALIGNMENT = 8; // of bodies: metadata are padded so far

    ArrayFile read(Path path, Set<FormatOption> permitted) throws IOException {
        return read(path, ArrowBlocks::of, file -> file.read(permitted));
    }

    /**
     * Compares arrays of one plan with what the others of their fields say of them. Where the messages of a file are is
     * kept, until an array of another file is compared, or the file has another length: a stream must be read to its end
     * to find them. Thread-safe.
     */
    public static final class Comparison {

        private record Known(Path path, long length, ArrowBlocks blocks) {}

        private @Nullable Known last; // guarded by this

        /** Creates one that has compared nothing. */
        public Comparison() {}

        /** Compares an array, if it is one of an Arrow file. Reads all of it. */
        public void check(Array array) throws IOException {
            if (ArrowContents.concerns(array) && array.bytes() > 0) {
                Path path = place(array).file();
                if (isArrow(path)) {
                    read(path, bytes -> blocks(path, bytes), file -> file.compare(array));
                }
            }
        }

        private synchronized ArrowBlocks blocks(Path path, HeaderBytes bytes) throws IOException {
            Known known = last;
            if (known == null || !known.path.equals(path) || known.length != bytes.length()) {
                known = new Known(path, bytes.length(), ArrowBlocks.of(bytes));
                last = known;
            }
            return known.blocks;
        }
    }

    private static boolean isArrow(Path path) throws IOException {
        try (HeaderBytes bytes = new HeaderBytes(path, ArrowFiles.FORMAT)) {
            byte[] start = bytes.bytes((int) Math.min(bytes.length(), FormatReader.START_BYTES), "the start");
            return FileStart.isArrow(start);
        }
    }

    /** Returns where an array of an Arrow file, which has one chunk at most, lies in it. */
    static Extent place(Array array) {
        return array.data() instanceof Extent extent
                ? extent
                : ((Array.Data.Chunked) array.data()).chunks().get(0).extent();
    }

    private interface Reading<T> {
        T of(File file) throws IOException;
    }

    private interface Finding {
        ArrowBlocks of(HeaderBytes bytes) throws IOException;
    }

    private static <T> T read(Path path, Finding finding, Reading<T> reading) throws IOException {
        try (HeaderBytes bytes = new HeaderBytes(path, ArrowFiles.FORMAT)) {
            return reading.of(new File(bytes, path, finding.of(bytes)));
        } catch (IndexOutOfBoundsException
                | BufferUnderflowException
                | NullPointerException
                | IllegalArgumentException
                | NegativeArraySizeException
                | ArithmeticException e) {
            // Flatbuffers does not check what it follows.
            boolean told = e instanceof NullPointerException || e instanceof IllegalArgumentException;
            throw new MalformedFileException(
                    path,
                    ArrowFiles.FORMAT,
                    "its metadata are damaged: "
                            + (told && e.getMessage() != null
                                    ? "at " + e.getMessage()
                                    : "an offset leads out of them"));
        }
    }

    /** One file being read. */
    private static final class File {

        private final HeaderBytes bytes;
        private final Path path;
        private final ArrowBlocks blocks;
        private final Schema schema;
        private final ByteOrder order;
        private final List<Array> arrays = new ArrayList<>();
        private final Map<Long, Integer> dictionaryBatches = new HashMap<>(); // so far, by their number
        private long fields;
        private long blockBytes;
        private final Map<Long, Long> dictionaryRows = new HashMap<>();
        private @Nullable Array wanted; // the one array to be found; all, if null
        private @Nullable ArrowContents found; // what its record batch has
        private int foundAt; // its number there

        File(HeaderBytes bytes, Path path, ArrowBlocks blocks) {
            this.bytes = bytes;
            this.path = path;
            this.blocks = blocks;
            schema = blocks.schema();
            order = schema.endianness() == Endianness.Big ? ByteOrder.BIG_ENDIAN : ByteOrder.LITTLE_ENDIAN;
        }

        ArrayFile read(Set<FormatOption> permitted) throws IOException {
            Map<String, String> attributes = attributes();
            bytes.trailing(
                    bytes.length() - blocks.end(),
                    "its messages end at byte " + blocks.end() + ", but it has " + bytes.length() + " bytes",
                    permitted,
                    attributes);
            Map<Long, Field> dictionaries = dictionaries(schema);
            if (!blocks.isStream()) {
                compareFirst(dictionaries);
            }
            batches(dictionaries);
            String format = ArrowFiles.FORMAT + (blocks.isStream() ? " stream" : "");
            return new ArrayFile(path, format, attributes, arrays);
        }

        /** Returns true. */
        boolean compare(Array array) throws IOException {
            wanted = array;
            batches(dictionaries(schema));
            if (found != null) {
                String name = array.name();
                int role = name.lastIndexOf(ArrowLayout.INDICES);
                long dictionary = role < 0 ? 0 : Long.parseLong(name.substring(role + ArrowLayout.INDICES.length()));
                found.check(foundAt, dictionaryRows.getOrDefault(dictionary, 0L));
            }
            return true;
        }

        private boolean concerns(ArrowBlocks.Block block) {
            if (wanted == null) {
                return true;
            }
            Extent place = place(wanted);
            return block.offset() <= place.offset() && place.end() - block.offset() <= block.metadata() + block.body();
        }

        private boolean isOfIndices() {
            return wanted != null && wanted.name().contains(ArrowLayout.INDICES);
        }

        private void batches(Map<Long, Field> dictionaries) throws IOException {
            ArrowLayout layout = ArrowLayout.of(bytes, schema, blocks.version());
            for (ArrowBlocks.Block block : blocks.dictionaries()) {
                if (!concerns(block) && !isOfIndices()) {
                    continue;
                }
                Body body = body(block);
                DictionaryBatch batch =
                        (DictionaryBatch) header(body.message, MessageHeader.DictionaryBatch, new DictionaryBatch());
                Field field = dictionaries.get(batch.id());
                if (field == null) {
                    throw bytes.malformed("no field has the dictionary " + batch.id());
                }
                ArrowLayout values = ArrowLayout.ofDictionary(bytes, field, blocks.version());
                RecordBatch data = Objects.requireNonNull(batch.data(), "data");
                int number = dictionaryBatches.merge(batch.id(), 1, Integer::sum);
                if (number > 1 && !batch.isDelta()) { // the batches before and behind it have other texts
                    throw bytes.unsupported("a stream that replaces dictionary " + batch.id());
                }
                dictionaryRows.merge(batch.id(), data.length(), Long::sum);
                batch(data, body, values, "dictionary " + batch.id() + (number == 1 ? "/" : "~" + number + "/"));
            }
            for (int i = 0; i < blocks.batches().size(); i++) {
                ArrowBlocks.Block block = blocks.batches().get(i);
                if (!concerns(block)) {
                    continue;
                }
                Body body = body(block);
                RecordBatch batch = (RecordBatch) header(body.message, MessageHeader.RecordBatch, new RecordBatch());
                batch(batch, body, layout, i + "/");
            }
        }

        private Map<Long, Field> dictionaries(Schema schema) {
            Map<Long, Field> dictionaries = new TreeMap<>();
            fields = 0;
            for (int i = 0; i < schema.fieldsLength(); i++) {
                field(Objects.requireNonNull(schema.fields(i), "field"), "", 0, dictionaries);
            }
            return dictionaries;
        }

        /** The schema is in the file twice: in the footer, and as the first message, for readers of a stream. */
        private void compareFirst(Map<Long, Field> dictionaries) throws IOException {
            long room = bytes.length()
                    - ArrowBlocks.MAGIC.length
                    - Integer.BYTES
                    - blocks.bytes()
                    - ArrowBlocks.START_PADDED;
            if (room < 2 * Integer.BYTES) {
                return;
            }
            bytes.seek(ArrowBlocks.START_PADDED, "the first message");
            long length = bytes.u32("the first message");
            length = (int) length == ArrowBlocks.CONTINUATION ? bytes.u32("the first message") : length;
            if (length > Math.min(room, ArrowBlocks.MOST_BYTES)) {
                throw bytes.malformed("its first message, of " + length + " bytes, is not before its footer");
            }
            Message first = Message.getRootAsMessage(ByteBuffer.wrap(bytes.bytes((int) length, "the first message"))
                    .order(ByteOrder.LITTLE_ENDIAN));
            if (first.headerType() != MessageHeader.Schema) {
                return; // some writers leave it out
            }
            Schema other = (Schema) header(first, MessageHeader.Schema, new Schema());
            if (other.endianness() != schema.endianness()
                    || !buffers(other, dictionaries(other)).equals(buffers(schema, dictionaries))) {
                throw bytes.malformed("the schema of its first message is not the schema of its footer");
            }
        }

        /** Returns the buffers of a schema's record batches, and of its dictionaries. */
        private List<ArrowLayout.Buffer> buffers(Schema schema, Map<Long, Field> dictionaries) {
            List<ArrowLayout.Buffer> all = new ArrayList<>(
                    ArrowLayout.of(bytes, schema, blocks.version()).buffers());
            dictionaries
                    .values()
                    .forEach(field -> all.addAll(ArrowLayout.ofDictionary(bytes, field, blocks.version())
                            .buffers()));
            return all;
        }

        /**
         * Checks the tree of fields, and finds the dictionaries. Flatbuffers permits that a field is the child of many:
         * a small file could have a huge tree.
         */
        private void field(Field field, String parent, int depth, Map<Long, Field> dictionaries) {
            fields++;
            if (fields > blocks.bytes() / LEAST_FIELD_BYTES || depth > MOST_DEPTH) {
                throw bytes.malformed("it must have at most " + blocks.bytes() / LEAST_FIELD_BYTES
                        + " fields in metadata of " + blocks.bytes() + " bytes, nested in at most " + MOST_DEPTH
                        + " others");
            }
            String path = ArrowLayout.path(field, parent);
            if (path.length() > MOST_PATH) {
                throw bytes.malformed(
                        "the path of a field must have at most " + MOST_PATH + " characters, had " + path.length());
            }
            DictionaryEncoding dictionary = field.dictionary();
            if (dictionary != null) {
                dictionaries.put(dictionary.id(), field);
            }
            for (int i = 0; i < field.childrenLength(); i++) {
                field(Objects.requireNonNull(field.children(i), "child"), path, depth + 1, dictionaries);
            }
        }

        private com.google.flatbuffers.Table header(Message message, byte type, com.google.flatbuffers.Table into) {
            if (message.headerType() != type) {
                throw bytes.malformed("a message must be of type " + type + ", was " + message.headerType());
            }
            return Objects.requireNonNull(message.header(into), "header");
        }

        private Map<String, String> attributes() {
            Map<String, String> attributes = new LinkedHashMap<>();
            long characters = 0;
            for (int i = 0; i < schema.customMetadataLength(); i++) {
                KeyValue entry = Objects.requireNonNull(schema.customMetadata(i), "entry");
                String key = String.valueOf(entry.key());
                String value = String.valueOf(entry.value());
                attributes.put(key, value);
                characters += key.length() + value.length();
                if (characters > blocks.bytes()) {
                    throw bytes.malformed("its custom metadata overlap: they have more characters than the "
                            + blocks.bytes() + " bytes of its metadata");
                }
            }
            return attributes;
        }

        /** A message, and where its body is. */
        private record Body(Message message, long start, int metadata, long length) {}

        private Body body(ArrowBlocks.Block block) throws IOException {
            long offset = block.offset();
            int metadata = block.metadata();
            long length = block.body();
            boolean fits = offset >= ArrowBlocks.START_PADDED
                    && metadata >= 2 * Integer.BYTES
                    && metadata <= ArrowBlocks.MOST_BYTES
                    && length >= 0
                    && offset <= bytes.length() - metadata
                    && length <= bytes.length() - metadata - offset;
            if (!fits) {
                throw bytes.malformed("a block of " + metadata + " and " + length + " bytes at " + offset
                        + " is not in its " + bytes.length());
            }
            blockBytes += metadata + length;
            if (blockBytes > bytes.length()) {
                throw bytes.malformed("its blocks overlap: they have more than its " + bytes.length() + " bytes");
            }
            bytes.seek(offset, "a message");
            ByteBuffer message =
                    ByteBuffer.wrap(bytes.bytes(metadata, "a message")).order(ByteOrder.LITTLE_ENDIAN);
            // Before version 0.15 there was the length only.
            int prefix = message.getInt(0) == ArrowBlocks.CONTINUATION ? 2 * Integer.BYTES : Integer.BYTES;
            long own = prefix + (long) message.getInt(prefix - Integer.BYTES);
            if (own > metadata || metadata - own >= ALIGNMENT) {
                throw bytes.malformed("a block has metadata of " + metadata + " bytes at " + offset
                        + " by the footer, but " + own + " by the message there");
            }
            message.position(prefix);
            Message parsed = Message.getRootAsMessage(message.slice().order(ByteOrder.LITTLE_ENDIAN));
            if (parsed.bodyLength() != length) {
                throw bytes.malformed("a block at " + offset + " has a body of " + length + " bytes by the footer, but "
                        + parsed.bodyLength() + " by its message");
            }
            return new Body(parsed, offset + metadata, metadata, length);
        }

        private void batch(RecordBatch batch, Body body, ArrowLayout layout, String prefix) throws IOException {
            List<ArrowLayout.Buffer> buffers = checked(batch, body, layout);
            comparePlaces(batch, body.length);
            ArrowBodies bodies = ArrowBodies.of(bytes, path, batch.compression());
            List<@Nullable Array> all = new ArrayList<>(Collections.nCopies(buffers.size(), null));
            ArrowContents contents = new ArrowContents(bytes, batch, layout, buffers, all);
            for (int i = buffers.size() - 1; i >= 0; i--) { // data before the offsets that lead to them
                ArrowLayout.Buffer buffer = buffers.get(i);
                var place = Objects.requireNonNull(batch.buffers(i), "buffer");
                FieldNode node = Objects.requireNonNull(batch.nodes(buffer.node()), "node");
                String field = prefix + buffer.field() + "/";
                Extent extent = new Extent(path, body.start + place.offset(), place.length());
                Array array = bodies.array(field + buffer.role(), buffer, node, contents.end(i), extent, order);
                boolean needed = array == null
                        ? !buffer.mayBeAbsent(node)
                        : contents.isOfTexts(i) && contents.end(i) == 0 && lastOffset(array) != 0;
                if (needed) {
                    throw bytes.malformed("buffer " + field + (array == null ? buffer.role() : ArrowLayout.DATA)
                            + " has no bytes, but its field has " + node.length() + " rows, " + node.nullCount()
                            + " of them null");
                }
                all.set(i, array);
                if (array != null && wanted != null && array.data().equals(wanted.data())) {
                    found = contents;
                    foundAt = i;
                }
            }
            all.stream().filter(Objects::nonNull).forEach(arrays::add);
        }

        private void comparePlaces(RecordBatch batch, long length) {
            long end = 0;
            for (int i = 0; i < batch.buffersLength(); i++) {
                var place = Objects.requireNonNull(batch.buffers(i), "buffer");
                if (place.offset() < 0 || place.length() < 0 || place.length() > length - place.offset()) {
                    throw bytes.malformed("a buffer of " + place.length() + " bytes at " + place.offset()
                            + " is not in a body of " + length);
                }
                if (place.length() > 0 && place.offset() < end) {
                    throw bytes.malformed("a buffer at " + place.offset()
                            + " of a body overlaps the one before it, which ends at " + end);
                }
                end = place.length() > 0 ? place.offset() + place.length() : end;
            }
        }

        /** Returns where the last row of a text ends in its data; 0 if that is only known once decoded. */
        private long lastOffset(Array offsets) throws IOException {
            if (!(offsets.data() instanceof Extent extent) || extent.length() == 0) {
                return 0;
            }
            int width = offsets.type().blockBytes();
            bytes.seek(extent.end() - width, offsets.name());
            ByteBuffer last = bytes.next(width, offsets.name());
            return width == Integer.BYTES ? last.getInt() : last.getLong();
        }

        /** Returns the buffers, once the numbers that the batch has of them agree, and its message can have as many. */
        private List<ArrowLayout.Buffer> checked(RecordBatch batch, Body body, ArrowLayout layout) {
            if (batch.nodesLength() != layout.nodes()) {
                throw bytes.malformed(
                        "a record batch must have " + layout.nodes() + " fields, had " + batch.nodesLength());
            }
            for (int i = 0; i < layout.nodes(); i++) {
                FieldNode node = Objects.requireNonNull(batch.nodes(i), "node");
                if (node.length() < 0 || node.nullCount() < 0 || node.nullCount() > node.length()) {
                    throw bytes.malformed("a field of a record batch has " + node.length() + " rows, "
                            + node.nullCount() + " of them null");
                }
                if (layout.isTop(i) && node.length() != batch.length()) {
                    throw bytes.malformed(
                            "a record batch of " + batch.length() + " rows has a field of " + node.length());
                }
            }
            layout.compare(batch);
            List<ArrowLayout.Buffer> fixed = layout.buffers();
            long[] variadic = variadic(batch, layout);
            long count = fixed.size() + LongStream.of(variadic).sum();
            if (batch.buffersLength() != count || count > body.metadata / PLACE_BYTES) {
                throw bytes.malformed("a record batch must have " + count + " buffers, had " + batch.buffersLength()
                        + " in a message of " + body.metadata + " bytes");
            }
            List<ArrowLayout.Buffer> all = new ArrayList<>();
            int next = 0;
            for (ArrowLayout.Buffer buffer : fixed) {
                all.add(buffer);
                long data = buffer.role().equals(ArrowLayout.VIEWS) ? variadic[next++] : 0;
                for (long i = 0; i < data; i++) {
                    all.add(new ArrowLayout.Buffer(
                            buffer.node(), buffer.field(), "data " + i, ElementType.U8, ArrowLayout.Count.ANY, 0));
                }
            }
            return all;
        }

        /**
         * Returns the numbers of buffers that each record batch has of its own, checked so that their sum is a long.
         */
        private long[] variadic(RecordBatch batch, ArrowLayout layout) {
            if (batch.variadicBufferCountsLength() != layout.variadic()) {
                throw bytes.malformed("a record batch must have " + layout.variadic()
                        + " numbers of variadic buffers, had " + batch.variadicBufferCountsLength());
            }
            long[] counts = new long[layout.variadic()];
            for (int i = 0; i < counts.length; i++) {
                counts[i] = batch.variadicBufferCounts(i);
                if (counts[i] < 0 || counts[i] > batch.buffersLength()) {
                    throw bytes.malformed("a record batch of " + batch.buffersLength() + " buffers gives a field "
                            + counts[i] + " buffers for its views");
                }
            }
            return counts;
        }
    }
}
