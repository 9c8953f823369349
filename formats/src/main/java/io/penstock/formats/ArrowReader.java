// SPDX-License-Identifier: Apache-2.0
package io.penstock.formats;

import java.io.IOException;
import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.apache.arrow.flatbuf.Block;
import org.apache.arrow.flatbuf.DictionaryBatch;
import org.apache.arrow.flatbuf.DictionaryEncoding;
import org.apache.arrow.flatbuf.Endianness;
import org.apache.arrow.flatbuf.Field;
import org.apache.arrow.flatbuf.Footer;
import org.apache.arrow.flatbuf.KeyValue;
import org.apache.arrow.flatbuf.Message;
import org.apache.arrow.flatbuf.MessageHeader;
import org.apache.arrow.flatbuf.RecordBatch;
import org.apache.arrow.flatbuf.Schema;

/**
 * Arrow's IPC file format, which is Feather's version 2: each buffer of each record batch is an array of one dimension,
 * named {@code 0/column/data} by its batch, field and role. Buffers without bytes, such as the validity of fields
 * without nulls, are left out.
 */
final class ArrowReader {

    static final String FORMAT = "Arrow";

    private static final byte[] MAGIC = "ARROW1".getBytes(StandardCharsets.US_ASCII);
    private static final int START_PADDED = 8;
    private static final int CONTINUATION = -1;
    private static final long MOST_METADATA_BYTES =
            SafetensorsReader.MOST_HEADER_BYTES; // of the footer, or of a message
    private static final int MOST_DEPTH = 64; // of fields
    private static final int MOST_PATH = 4096; // characters: the path is in the name of each buffer of each batch
    private static final int LEAST_FIELD_BYTES = 8; // of the footer: two offsets

    ArrayFile read(Path path) throws IOException {
        try (HeaderBytes bytes = new HeaderBytes(path, FORMAT)) {
            if (bytes.u32("the magic number") == 0x31414546) {
                throw bytes.malformed("it is Feather of version 1, which is not supported");
            }
            Footer footer = Footer.getRootAsFooter(footer(bytes));
            return new File(bytes, path, footer).read();
        } catch (IndexOutOfBoundsException
                | BufferUnderflowException
                | NullPointerException
                | IllegalArgumentException
                | NegativeArraySizeException
                | ArithmeticException e) {
            // Flatbuffers does not check what it follows; and two buffers may have the same name.
            throw new MalformedFileException(path, FORMAT, "its metadata are damaged: " + e);
        }
    }

    private static ByteBuffer footer(HeaderBytes bytes) throws IOException {
        int tail = Integer.BYTES + MAGIC.length;
        bytes.seek(bytes.length() - tail, "the end of the file");
        long length = bytes.u32("the length of the footer");
        if (!Arrays.equals(bytes.bytes(MAGIC.length, "the magic number"), MAGIC)) {
            throw bytes.malformed("it must end with ARROW1");
        }
        long start = bytes.length() - tail - length;
        if (start < START_PADDED) {
            throw bytes.malformed("its footer of " + length + " bytes does not fit into it");
        }
        if (length > MOST_METADATA_BYTES) {
            throw bytes.malformed("its footer must have at most " + MOST_METADATA_BYTES + " bytes, has " + length);
        }
        bytes.seek(start, "the footer");
        return ByteBuffer.wrap(bytes.bytes((int) length, "the footer")).order(ByteOrder.LITTLE_ENDIAN);
    }

    /** One file being read. */
    private static final class File {

        private final HeaderBytes bytes;
        private final Path path;
        private final Footer footer;
        private final Schema schema;
        private final ByteOrder order;
        private final List<Array> arrays = new ArrayList<>();
        private final Map<String, Integer> names = new HashMap<>();
        private final long footerBytes;
        private long fields;
        private long blockBytes;

        File(HeaderBytes bytes, Path path, Footer footer) {
            this.bytes = bytes;
            this.path = path;
            this.footer = footer;
            footerBytes = footer.getByteBuffer().limit();
            schema = Objects.requireNonNull(footer.schema(), "schema");
            order = schema.endianness() == Endianness.Big ? ByteOrder.BIG_ENDIAN : ByteOrder.LITTLE_ENDIAN;
        }

        ArrayFile read() throws IOException {
            Map<Long, Field> dictionaries = new HashMap<>();
            for (int i = 0; i < schema.fieldsLength(); i++) {
                field(Objects.requireNonNull(schema.fields(i), "field"), "", 0, dictionaries);
            }
            ArrowLayout layout = ArrowLayout.of(bytes, schema, footer.version());
            for (int i = 0; i < footer.dictionariesLength(); i++) {
                Body body = body(Objects.requireNonNull(footer.dictionaries(i), "block"));
                DictionaryBatch batch =
                        (DictionaryBatch) header(body.message, MessageHeader.DictionaryBatch, new DictionaryBatch());
                Field field = dictionaries.get(batch.id());
                if (field == null) {
                    throw bytes.malformed("no field has the dictionary " + batch.id());
                }
                ArrowLayout values = ArrowLayout.ofDictionary(bytes, field, footer.version());
                RecordBatch data = Objects.requireNonNull(batch.data(), "data");
                batch(data, body, values, "dictionary " + batch.id() + "/");
            }
            for (int i = 0; i < footer.recordBatchesLength(); i++) {
                Body body = body(Objects.requireNonNull(footer.recordBatches(i), "block"));
                RecordBatch batch = (RecordBatch) header(body.message, MessageHeader.RecordBatch, new RecordBatch());
                batch(batch, body, layout, i + "/");
            }
            return new ArrayFile(path, FORMAT, attributes(), arrays);
        }

        /**
         * Checks the tree of fields, and finds the dictionaries. Flatbuffers permits that a field is the child of many:
         * a small file could have a huge tree.
         */
        private void field(Field field, String parent, int depth, Map<Long, Field> dictionaries) {
            fields++;
            if (fields > footerBytes / LEAST_FIELD_BYTES || depth > MOST_DEPTH) {
                throw bytes.malformed("it must have at most " + footerBytes / LEAST_FIELD_BYTES
                        + " fields in a footer of " + footerBytes + " bytes, nested in at most " + MOST_DEPTH
                        + " others");
            }
            String path = ArrowLayout.name(field, parent);
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
                if (characters > footerBytes) {
                    throw bytes.malformed("its custom metadata overlap: they have more characters than the "
                            + footerBytes + " bytes of its footer");
                }
            }
            return attributes;
        }

        /** A message, and where its body is. */
        private record Body(Message message, long start, long length) {}

        private Body body(Block block) throws IOException {
            long offset = block.offset();
            int metadata = block.metaDataLength();
            long length = block.bodyLength();
            boolean fits = offset >= START_PADDED
                    && metadata >= 2 * Integer.BYTES
                    && metadata <= MOST_METADATA_BYTES
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
            message.position(message.getInt(0) == CONTINUATION ? 2 * Integer.BYTES : Integer.BYTES);
            return new Body(
                    Message.getRootAsMessage(message.slice().order(ByteOrder.LITTLE_ENDIAN)),
                    offset + metadata,
                    length);
        }

        private void batch(RecordBatch batch, Body body, ArrowLayout layout, String prefix) throws IOException {
            List<ArrowLayout.Buffer> buffers = expanded(batch, layout);
            if (batch.nodesLength() != layout.nodes() || batch.buffersLength() != buffers.size()) {
                throw bytes.malformed("a record batch must have " + layout.nodes() + " fields and " + buffers.size()
                        + " buffers, had " + batch.nodesLength() + " and " + batch.buffersLength());
            }
            ArrowBodies bodies = ArrowBodies.of(bytes, path, batch.compression());
            for (int i = 0; i < buffers.size(); i++) {
                ArrowLayout.Buffer buffer = buffers.get(i);
                var place = Objects.requireNonNull(batch.buffers(i), "buffer");
                if (place.offset() < 0 || place.length() < 0 || place.length() > body.length - place.offset()) {
                    throw bytes.malformed("a buffer of " + place.length() + " bytes at " + place.offset()
                            + " is not in a body of " + body.length);
                }
                long rows = Objects.requireNonNull(batch.nodes(buffer.node()), "node")
                        .length();
                if (place.length() > 0) {
                    Extent extent = new Extent(path, body.start + place.offset(), place.length());
                    Array array = bodies.array(named(prefix, buffer), buffer, rows, extent, order);
                    if (array != null) {
                        arrays.add(array);
                    }
                }
            }
        }

        /** Adds the buffers of which each record batch has its own number. */
        private static List<ArrowLayout.Buffer> expanded(RecordBatch batch, ArrowLayout layout) {
            if (!layout.isVariadic()) {
                return layout.buffers();
            }
            List<ArrowLayout.Buffer> all = new ArrayList<>();
            int next = 0;
            for (ArrowLayout.Buffer buffer : layout.buffers()) {
                all.add(buffer);
                if (buffer.role().equals("views")) {
                    long count = batch.variadicBufferCounts(next++);
                    for (long i = 0; i < count && all.size() <= batch.buffersLength(); i++) {
                        all.add(new ArrowLayout.Buffer(
                                buffer.node(), buffer.field(), "data " + i, ElementType.U8, ArrowLayout.Count.ANY));
                    }
                }
            }
            return all;
        }

        /** Returns the name of a buffer; fields may have the same name. */
        private String named(String prefix, ArrowLayout.Buffer buffer) {
            String name = prefix + buffer.field() + "/" + buffer.role();
            int before = names.merge(name, 1, Integer::sum);
            return before == 1 ? name : name + "~" + before;
        }
    }
}
