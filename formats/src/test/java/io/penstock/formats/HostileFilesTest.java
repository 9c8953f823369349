// SPDX-License-Identifier: Apache-2.0
package io.penstock.formats;

import static java.nio.file.StandardOpenOption.CREATE_NEW;
import static java.nio.file.StandardOpenOption.WRITE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.google.flatbuffers.FlatBufferBuilder;
import io.penstock.Backend;
import io.penstock.Backends;
import io.penstock.formats.load.Batch;
import io.penstock.formats.read.ArrowFiles;
import io.penstock.formats.read.GgufReader;
import io.penstock.formats.read.SafetensorsReader;
import io.penstock.formats.read.ZarrReader;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileSystemException;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.function.ToIntFunction;
import java.util.zip.GZIPOutputStream;
import org.apache.arrow.flatbuf.Block;
import org.apache.arrow.flatbuf.DictionaryEncoding;
import org.apache.arrow.flatbuf.Field;
import org.apache.arrow.flatbuf.Footer;
import org.apache.arrow.flatbuf.KeyValue;
import org.apache.arrow.flatbuf.Message;
import org.apache.arrow.flatbuf.MessageHeader;
import org.apache.arrow.flatbuf.RecordBatch;
import org.apache.arrow.flatbuf.Schema;
import org.apache.arrow.flatbuf.Type;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import reactor.core.publisher.Mono;

/** Files that are small, and claim much. */
@Timeout(value = 20, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class HostileFilesTest {

    @TempDir
    Path folder;

    private Path zarr(String name, String document) throws IOException {
        Path array = Files.createDirectories(folder.resolve("group.zarr").resolve(name));
        Files.writeString(array.resolve(".zarray"), document);
        Files.writeString(folder.resolve("group.zarr/.zgroup"), "{\"zarr_format\": 2}");
        return array;
    }

    private static String document(String shape, String chunks, String type, String fill) {
        return """
                {"zarr_format": 2, "shape": %s, "chunks": %s, "dtype": "%s", "fill_value": %s, "order": "C",
                 "compressor": null, "filters": null}""".formatted(shape, chunks, type, fill);
    }

    @Test
    void aPipeIsRefusedInsteadOfWaitedFor() throws Exception {
        assumeTrue(FileSystems.getDefault().supportedFileAttributeViews().contains("unix"), "named pipes are Unix's");
        Path pipe = folder.resolve("shard.safetensors");
        Process made = new ProcessBuilder("mkfifo", pipe.toString()).start();
        assertThat(made.waitFor()).isZero();
        Path index = Files.writeString(
                folder.resolve("m.safetensors.index.json"), "{\"weight_map\": {\"a\": \"shard.safetensors\"}}");
        for (Path path : new Path[] {pipe, index}) {
            assertThatThrownBy(() -> Formats.read(path).block())
                    .hasRootCauseInstanceOf(FileSystemException.class)
                    .hasMessageContaining("a pipe is not a file of arrays");
        }
    }

    @Test
    void aFolderInPlaceOfAFileIsNamed() throws IOException {
        Path shard = Files.createDirectory(folder.resolve("shard.safetensors"));
        Path index = Files.writeString(
                folder.resolve("m.safetensors.index.json"), "{\"weight_map\": {\"a\": \"shard.safetensors\"}}");
        for (Mono<ArrayFile> read : List.of(Formats.read(index), Formats.raw(shard, 0, ElementType.U8, List.of(1L)))) {
            assertThatThrownBy(read::block)
                    .hasRootCauseInstanceOf(FileSystemException.class)
                    .hasMessageContaining(shard + ": a folder is not a file of arrays");
        }
    }

    @Test
    void aNegativeOffsetIsNamed() {
        assertThatThrownBy(() -> Formats.raw(folder, -1, ElementType.U8, List.of(1L)))
                .isInstanceOf(IndexOutOfBoundsException.class)
                .hasMessage("offset must be at least 0, was -1");
    }

    /** What a download that failed leaves, a file as it came from a server, and a folder of something else. */
    @Test
    void whatIsNoFileOfArraysIsNamed() throws IOException {
        assertUnknown(Files.createFile(folder.resolve("empty.safetensors")), "not a valid array file: it is empty");
        Path packed = folder.resolve("model.gguf.gz");
        try (OutputStream out = new GZIPOutputStream(Files.newOutputStream(packed))) {
            out.write("GGUF".getBytes(StandardCharsets.US_ASCII));
        }
        assertUnknown(packed, "not a valid array file: it is compressed by gzip as a whole, and must be decompressed");
        assertUnknown(folder, "not a valid array file: it is a folder, without an array or a group of Zarr");
        assertUnknown(Files.write(folder.resolve("bytes"), new byte[] {1, 2}), "neither its name nor its first bytes");
    }

    private static void assertUnknown(Path path, String complaint) {
        assertThatThrownBy(() -> Formats.read(path).block())
                .isInstanceOf(MalformedFileException.class)
                .hasMessageContainingAll(path.toString(), complaint);
    }

    @Test
    void aFillValueIsNotAsLongAsATypeClaims() throws IOException {
        Path array = zarr("a", document("[1]", "[1]", "|S10000000", "0"));
        FuzzTarget.assertAllocates(
                4 << 20,
                () -> assertThat(new ZarrReader().read(array, Set.of()).arrays())
                        .hasSize(1));
    }

    @Test
    void aHeaderOfSafetensorsIsNotAsLongAsItsFileClaims() throws IOException {
        ByteBuffer start = ByteBuffer.allocate(Long.BYTES + 2).order(ByteOrder.LITTLE_ENDIAN);
        start.putLong(SafetensorsReader.MOST_HEADER_BYTES).put((byte) '{').put((byte) '}');
        Path file = Files.write(folder.resolve("a.safetensors"), start.array());
        FuzzTarget.assertAllocates(
                1 << 20,
                () -> assertThatThrownBy(() -> new SafetensorsReader().read(file, Set.of()))
                        .isInstanceOf(MalformedFileException.class)
                        .hasMessageEndingWith("the header at byte 8 takes 100000000 bytes, but the file ends after 2"));
    }

    @Test
    void aPlanOfAnArrayWithoutChunksCostsNothing() throws IOException {
        Path array = zarr("a", document("[4611686018427387904]", "[1]", "|u1", "7"));
        ArrayFile file = new ZarrReader().read(array, Set.of());
        try (Backend backend = Backends.open("host")) {
            assertThat(Loader.of(backend).explain(file).bytes()).isEqualTo(1L << 62);
        }
    }

    @Test
    void arraysOfMoreBytesThanThereAreNumbersForAreRefused() throws IOException {
        for (String name : new String[] {"a", "b"}) {
            zarr(name, document("[4611686018427387904]", "[1]", "|u1", "0"));
        }
        assertThatThrownBy(() -> new ZarrReader().read(folder.resolve("group.zarr"), Set.of()))
                .isInstanceOf(MalformedFileException.class)
                .hasMessageEndingWith("its arrays have more bytes than a file can hold");
    }

    @Test
    void anEmptyArrayLiesInItsFile() throws IOException {
        byte[] gguf = Files.readAllBytes(Real.file("model.gguf"));
        Path file = folder.resolve("empty.gguf");
        ByteBuffer header =
                ByteBuffer.allocate(57).order(ByteOrder.LITTLE_ENDIAN).put(gguf, 0, 8);
        header.putLong(1).putLong(0).putLong(1).put((byte) 'a'); // one array, named a
        Files.write(file, header.putInt(1).putLong(0).putInt(0).putLong(0).array()); // not padded to 64
        Extent extent =
                (Extent) new GgufReader().read(file, Set.of()).arrays().get(0).data();
        assertThat(extent.end()).isEqualTo(57);
    }

    /** Every field has the next one as its child many times: a tree with more fields than the file has bytes. */
    @Test
    void theFieldsOfArrowDoNotOverlap() throws IOException {
        Path file = arrow(builder -> {
            int field = field(builder, "x", 0, 0);
            for (int i = 0; i < 20; i++) {
                field = field(builder, "x", 0, Field.createChildrenVector(builder, new int[] {field, field}));
            }
            int encoding = DictionaryEncoding.createDictionaryEncoding(builder, 1, 0, false, (short) 0);
            field = field(builder, "x", encoding, Field.createChildrenVector(builder, new int[] {field, field}));
            return schema(builder, 0, field);
        });
        assertRefused(file, "it must have at most ");
    }

    @Test
    void theNamesOfArrowDoNotOverlap() throws IOException {
        Path file = arrow(builder -> {
            int[] fields = new int[1000];
            Arrays.fill(fields, field(builder, "x".repeat(100_000), 0, 0));
            return schema(builder, 0, fields);
        });
        assertRefused(file, "the path of a field must have at most 4096 characters");
    }

    @Test
    void theMetadataOfArrowDoNotOverlap() throws IOException {
        Path file = arrow(builder -> {
            int[] entries = new int[10_000];
            int text = builder.createString("x".repeat(100_000));
            Arrays.fill(entries, KeyValue.createKeyValue(builder, text, text));
            return schema(builder, Schema.createCustomMetadataVector(builder, entries), field(builder, "x", 0, 0));
        });
        assertRefused(file, "its custom metadata overlap");
    }

    @Test
    void theBlocksOfArrowDoNotOverlap() throws IOException {
        FlatBufferBuilder batch = new FlatBufferBuilder();
        int empty = RecordBatch.createRecordBatch(batch, 0, 0, 0, 0, 0);
        batch.finish(Message.createMessage(batch, (short) 4, MessageHeader.RecordBatch, empty, 0, 0));
        byte[] message = batch.sizedByteArray();
        int block = 2 * Integer.BYTES + message.length;
        FlatBufferBuilder builder = new FlatBufferBuilder();
        int schema = schema(builder, 0);
        Footer.startRecordBatchesVector(builder, 1000);
        for (int i = 0; i < 1000; i++) {
            Block.createBlock(builder, 8, block, 0);
        }
        builder.finish(Footer.createFooter(builder, (short) 4, schema, 0, builder.endVector(), 0));
        ByteBuffer start = ByteBuffer.allocate(block).order(ByteOrder.LITTLE_ENDIAN);
        start.putInt(-1).putInt(message.length).put(message);
        assertRefused(file(start.array(), builder.sizedByteArray()), "its blocks overlap");
    }

    /** The file of a chunk may be sparse: as long as the file system permits, and of a few bytes. */
    @Test
    void aChunkIsNotTakenIntoMemoryAsLongAsItsFileIs() throws IOException {
        Path array = zarr(
                "a",
                document("[4]", "[4]", "|u1", "0")
                        .replace("\"compressor\": null", "\"compressor\": {\"id\": \"zlib\"}"));
        try (FileChannel chunk = FileChannel.open(array.resolve("0"), CREATE_NEW, WRITE)) {
            chunk.write(ByteBuffer.allocate(1), 5L << 30);
        }
        ArrayFile file = new ZarrReader().read(array, Set.of());
        try (Backend backend = Backends.open("host")) {
            assertThatThrownBy(() -> Loader.of(backend).explain(file))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining(
                            "array a has a chunk of 5368709121 bytes in its file, more than the 2147483639 that a"
                                    + " chunk can have here");
        }
    }

    /** A gather takes an offset for each of its blocks: a few GiB of them for the columns of a long, narrow array. */
    @Test
    void theColumnsOfANarrowArrayAreTransferredByManyGathers() throws IOException {
        long rows = 10_000_000;
        Path file = folder.resolve("narrow.bin");
        try (FileChannel data = FileChannel.open(file, CREATE_NEW, WRITE)) {
            data.write(ByteBuffer.allocate(1), 2 * rows - 1);
        }
        ArrayFile raw = Objects.requireNonNull(
                Formats.raw(file, 0, ElementType.U8, List.of(rows, 2L)).block());
        try (Backend backend = Backends.open("host")) {
            LoadPlan plan = Loader.of(backend).slice(Slice.columns(1, 2)).explain(raw);
            long blocks = 0;
            for (Batch batch : plan.batches().get(file)) {
                for (Batch.Piece piece : batch.pieces()) {
                    assertThat(piece.from().count()).isLessThanOrEqualTo(16_384);
                    assertThat(piece.from().offset()).isEqualTo(2 * blocks + 1);
                    assertThat(piece.offset()).isEqualTo(blocks);
                    blocks += piece.from().count();
                }
            }
            assertThat(blocks).isEqualTo(rows);
        }
    }

    /** Of a part of a chunk all of the chunk is decoded: so much memory, however small the part is. */
    @Test
    void aPartTakesTheMemoryOfItsChunks() throws IOException {
        Path array = zarr(
                "a",
                document("[64, 1048576]", "[64, 1048576]", "|u1", "0")
                        .replace("\"compressor\": null", "\"compressor\": {\"id\": \"zlib\"}"));
        Files.write(array.resolve("0.0"), new byte[(64 << 20) / 1032]); // no shorter data are as long
        try (Backend backend = Backends.open("host")) {
            LoadPlan plan = Loader.of(backend).slice(Slice.rows(0, 64)).explain(new ZarrReader().read(array, Set.of()));
            assertThat(plan.bytes()).isEqualTo(1 << 20);
            assertThat(plan.hostPieces()).extracting(HostPiece::bytes).containsExactly(64L << 20);
        }
    }

    /** Reactor does not signal an OutOfMemoryError: a subscriber to the arrays would wait for ever. */
    @Test
    void aLoadFailsWhereTheMemoryOfTheHostDoesNotSuffice() {
        HostPiece part = new HostPiece(0, 0, 1000, new Conversion(1, 0, false), () -> {
            throw new OutOfMemoryError("Java heap space");
        });
        assertThatThrownBy(() -> Load.read(part).block())
                .isInstanceOf(IllegalStateException.class)
                .hasMessage(
                        "there is not enough memory of the host to read 1000 bytes of an array, see Loader.hostBytes, or"
                                + " --host-memory of penstock load: Java heap space");
        assertThatThrownBy(() -> Formats.read(folder, () -> {
                    throw new OutOfMemoryError("Java heap space");
                }))
                .isInstanceOf(IllegalStateException.class)
                .hasMessage("there is not enough memory to read the metadata of " + folder + ": Java heap space");
    }

    /** A sparse file is as long as it claims to be, and costs its author nothing. */
    @Test
    void metadataOfMoreThanAHundredMillionBytesAreRefused() throws IOException {
        Path arrow = folder.resolve("sparse.arrow");
        try (FileChannel file = FileChannel.open(arrow, CREATE_NEW, WRITE)) {
            file.write(ByteBuffer.wrap("ARROW1\0\0".getBytes(StandardCharsets.US_ASCII)));
            ByteBuffer end = ByteBuffer.allocate(10).order(ByteOrder.LITTLE_ENDIAN);
            end.putInt(1 << 30)
                    .put("ARROW1".getBytes(StandardCharsets.US_ASCII))
                    .flip();
            file.write(end, 8 + (1L << 30));
        }
        assertRefused(arrow, "its footer must have at most 100000000 bytes, has 1073741824");
        Path array = Files.createDirectories(folder.resolve("a/c"));
        Files.writeString(array.resolveSibling("zarr.json"), """
                {"zarr_format": 3, "node_type": "array", "shape": [67108864], "data_type": "uint8", "fill_value": 0,
                 "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [67108864]}},
                 "chunk_key_encoding": {"name": "default"},
                 "codecs": [{"name": "sharding_indexed", "configuration": {"chunk_shape": [1],
                   "codecs": [{"name": "bytes"}],
                   "index_codecs": [{"name": "bytes", "configuration": {"endian": "little"}}]}}]}
                """);
        try (FileChannel file = FileChannel.open(array.resolve("0"), CREATE_NEW, WRITE)) {
            file.write(ByteBuffer.allocate(1), (1L << 30) - 1);
        }
        FuzzTarget.assertAllocates(
                2 << 20,
                () -> assertThatThrownBy(() -> new ZarrReader().read(array.getParent(), Set.of()))
                        .isInstanceOf(MalformedFileException.class)
                        .hasMessageContaining("have more chunks of [1] than 6250000"));
    }

    private static int field(FlatBufferBuilder builder, String name, int dictionary, int children) {
        return Field.createField(
                builder, builder.createSharedString(name), true, Type.Struct_, 0, dictionary, children, 0);
    }

    private static int schema(FlatBufferBuilder builder, int metadata, int... fields) {
        return Schema.createSchema(builder, (short) 0, Schema.createFieldsVector(builder, fields), metadata, 0);
    }

    private Path arrow(ToIntFunction<FlatBufferBuilder> schema) throws IOException {
        FlatBufferBuilder builder = new FlatBufferBuilder();
        builder.finish(Footer.createFooter(builder, (short) 4, schema.applyAsInt(builder), 0, 0, 0));
        return file(new byte[0], builder.sizedByteArray());
    }

    private Path file(byte[] blocks, byte[] footer) throws IOException {
        byte[] magic = "ARROW1".getBytes(StandardCharsets.US_ASCII);
        ByteBuffer bytes = ByteBuffer.allocate(8 + blocks.length + footer.length + Integer.BYTES + magic.length);
        bytes.order(ByteOrder.LITTLE_ENDIAN).put(magic).position(8).put(blocks);
        bytes.put(footer).putInt(footer.length).put(magic);
        return Files.write(folder.resolve("a.arrow"), bytes.array());
    }

    private static void assertRefused(Path arrow, String complaint) throws IOException {
        FuzzTarget.assertAllocates(
                2 << 20,
                () -> assertThatThrownBy(() -> new ArrowFiles().read(arrow, Set.of()))
                        .isInstanceOf(MalformedFileException.class)
                        .hasMessageContaining(complaint));
    }
}
