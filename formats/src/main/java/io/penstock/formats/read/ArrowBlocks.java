// SPDX-License-Identifier: Apache-2.0
package io.penstock.formats.read;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import org.apache.arrow.flatbuf.Footer;
import org.apache.arrow.flatbuf.Message;
import org.apache.arrow.flatbuf.MessageHeader;
import org.apache.arrow.flatbuf.Schema;
import org.jspecify.annotations.Nullable;

/**
 * Where the messages of Arrow's IPC formats are: by the footer of a file, or one behind the other in a stream.
 *
 * @param isStream whether it is a stream, which has its schema once
 * @param version the version of the metadata
 * @param bytes the length of the schema's metadata: of the footer, or of the first message
 * @param end where the messages end: a file of a stream may have bytes behind it
 */
record ArrowBlocks(
        boolean isStream,
        Schema schema,
        short version,
        List<Block> dictionaries,
        List<Block> batches,
        long bytes,
        long end) {

    static final byte[] MAGIC = "ARROW1".getBytes(StandardCharsets.US_ASCII);
    static final int START_PADDED = 8; // of a file: its magic number, padded

    /** The number before the length of a message, since version 0.15. */
    static final int CONTINUATION = -1;

    /** The most bytes of the metadata of a message, or of a footer. */
    static final long MOST_BYTES = SafetensorsReader.MOST_HEADER_BYTES;

    /** A message with its prefix, and the body behind it. */
    record Block(long offset, int metadata, long body) {

        private static Block of(org.apache.arrow.flatbuf.@Nullable Block block) {
            Objects.requireNonNull(block, "block");
            return new Block(block.offset(), block.metaDataLength(), block.bodyLength());
        }
    }

    /** Finds the messages of a file, by its footer, or of a stream. */
    static ArrowBlocks of(HeaderBytes bytes) throws IOException {
        int start = (int) bytes.u32("the magic number");
        if (start == 0x31414546) {
            throw bytes.unsupported("it is Feather of version 1, which is not supported");
        }
        return start == CONTINUATION ? ofStream(bytes) : of(Footer.getRootAsFooter(footer(bytes)), bytes.length());
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
        if (length > MOST_BYTES) {
            throw bytes.malformed("its footer must have at most " + MOST_BYTES + " bytes, has " + length);
        }
        bytes.seek(start, "the footer");
        return ByteBuffer.wrap(bytes.bytes((int) length, "the footer")).order(ByteOrder.LITTLE_ENDIAN);
    }

    private static ArrowBlocks of(Footer footer, long end) {
        List<Block> dictionaries = new ArrayList<>();
        for (int i = 0; i < footer.dictionariesLength(); i++) {
            dictionaries.add(Block.of(footer.dictionaries(i)));
        }
        List<Block> batches = new ArrayList<>();
        for (int i = 0; i < footer.recordBatchesLength(); i++) {
            batches.add(Block.of(footer.recordBatches(i)));
        }
        Schema schema = Objects.requireNonNull(footer.schema(), "schema");
        long bytes = footer.getByteBuffer().limit();
        return new ArrowBlocks(false, schema, footer.version(), dictionaries, batches, bytes, end);
    }

    /** Reads the metadata of all messages; a stream ends with a mark and a length of 0, or with its file. */
    private static ArrowBlocks ofStream(HeaderBytes bytes) throws IOException {
        List<Block> dictionaries = new ArrayList<>();
        List<Block> batches = new ArrayList<>();
        Message first = null;
        long firstBytes = 0;
        long at = 0;
        while (at < bytes.length()) {
            Message message = message(bytes, at);
            if (message == null) {
                at = bytes.position();
                break;
            }
            Block block = new Block(at, (int) (bytes.position() - at), message.bodyLength());
            byte type = message.headerType();
            if (first == null && type == MessageHeader.Schema) {
                first = message;
                firstBytes = block.metadata;
            } else if (first != null && type == MessageHeader.DictionaryBatch) {
                dictionaries.add(block);
            } else if (first != null && type == MessageHeader.RecordBatch) {
                batches.add(block);
            } else {
                throw bytes.malformed("the message at " + at + " must be "
                        + (first == null ? "a schema" : "a record batch or a dictionary") + ", was of type " + type);
            }
            at = bytes.position() + block.body;
        }
        if (first == null) {
            throw bytes.malformed("it must begin with a schema");
        }
        Schema schema = (Schema) Objects.requireNonNull(first.header(new Schema()), "schema");
        return new ArrowBlocks(true, schema, first.version(), dictionaries, batches, firstBytes, at);
    }

    /** Returns the message at a place of a stream, whose body follows and is in the file; null at the stream's end. */
    private static @Nullable Message message(HeaderBytes bytes, long at) throws IOException {
        bytes.seek(at, "a message");
        // A stream that begins with a mark has one before each message: without, it is nothing of the stream.
        if (bytes.remaining() < Integer.BYTES || (int) bytes.u32("a message") != CONTINUATION) {
            bytes.seek(at, "a message");
            return null;
        }
        long length = bytes.u32("a message");
        if (length == 0) {
            return null;
        }
        if (length > MOST_BYTES) {
            throw bytes.malformed("a message at " + at + " must have at most " + MOST_BYTES + " bytes, has " + length);
        }
        ByteBuffer metadata = ByteBuffer.wrap(bytes.bytes((int) length, "a message"));
        Message message = Message.getRootAsMessage(metadata.order(ByteOrder.LITTLE_ENDIAN));
        if (message.bodyLength() < 0 || message.bodyLength() > bytes.remaining()) {
            throw bytes.malformed("the body of " + message.bodyLength() + " bytes behind the message at " + at
                    + " is not in the " + bytes.remaining() + " that follow: the stream is cut");
        }
        return message;
    }
}
