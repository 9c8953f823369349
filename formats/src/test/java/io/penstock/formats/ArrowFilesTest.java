// SPDX-License-Identifier: Apache-2.0
package io.penstock.formats;

import static io.penstock.formats.LoaderTest.bytes;
import static io.penstock.formats.LoaderTest.get;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.Backend;
import io.penstock.Backends;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.zip.CRC32;
import org.apache.arrow.flatbuf.Message;
import org.apache.arrow.flatbuf.MessageHeader;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Arrow's files of two implementations, loaded, and held against what Arrow Java reads in them. */
class ArrowFilesTest {

    private static Backend backend;

    @TempDir
    Path folder;

    @BeforeAll
    static void open() {
        backend = Backends.open("host");
    }

    @AfterAll
    static void close() {
        backend.close();
    }

    private static ArrayFile read(Path path) {
        return Objects.requireNonNull(Formats.read(path).block());
    }

    /** Returns the bytes and the sum of each buffer. */
    private static Map<String, String[]> expected(String file) throws IOException {
        Map<String, String[]> expected = new LinkedHashMap<>();
        for (String line : Files.readAllLines(Real.file("arrow/expected.txt"))) {
            String[] fields = line.split("\\|", -1);
            if (fields[0].equals(file)) {
                expected.put(fields[1], fields);
            }
        }
        return expected;
    }

    @ParameterizedTest
    @ValueSource(strings = {"java.arrow", "java-lz4.arrow", "java-zstd.arrow", "js.arrow"})
    void everyBufferIsWhatArrowJavaReads(String name) throws IOException {
        Map<String, String[]> expected = expected(name);
        try (LoadedArrays loaded = get(Loader.of(backend).load(Real.file("arrow/" + name)))) {
            assertThat(loaded.arrays()).hasSizeGreaterThan(10);
            for (DeviceArray array : loaded.arrays()) {
                String[] fields = Objects.requireNonNull(expected.remove(array.name()), array.name());
                int length = Integer.parseInt(fields[2]);
                byte[] bytes = bytes(array);
                boolean padded = array.name().endsWith("/data") && array.type().equals(ElementType.U8);
                assertThat(bytes.length - length).as(array.name()).isBetween(0, padded ? 63 : 0);
                CRC32 crc = new CRC32();
                crc.update(bytes, 0, length);
                assertThat("%08x".formatted(crc.getValue())).as(array.name()).isEqualTo(fields[3]);
            }
        }
        assertThat(expected.values())
                .allSatisfy(fields -> assertThat(fields[1].endsWith("/validity") || fields[2].equals("0"))
                        .as("left out: %s", Arrays.toString(fields))
                        .isTrue());
    }

    @Test
    void uncompressedBuffersGoStraight() {
        LoadPlan plan = Loader.of(backend).explain(read(Real.file("arrow/java.arrow")));
        assertThat(plan.conversions()).isEmpty();
        assertThat(Loader.of(backend)
                        .explain(read(Real.file("arrow/java-lz4.arrow")))
                        .conversions())
                .contains("lz4-frame");
    }

    @Test
    void typesAndMetadataAreThoseOfTheSchema() {
        ArrayFile file = read(Real.file("arrow/java.arrow"));
        assertThat(file.attributes()).containsEntry("made by", "Arrow Java");
        Map<String, String> types = new LinkedHashMap<>();
        for (Array array : file.arrays()) {
            types.put(array.name(), array.type() + " " + array.shape());
        }
        assertThat(types)
                .containsEntry("0/u64/data", "U64 [9]")
                .containsEntry("1/double/validity", "BITS [2]")
                .containsEntry("0/text/offsets", "I32 [10]")
                .containsEntry("0/large/offsets", "I64 [10]")
                .containsEntry("0/fixed/data", "V5 [9]")
                .containsEntry("0/decimal/data", "DECIMAL128 [9]")
                .containsEntry("0/flag/data", "BITS [2]")
                .containsEntry("1/pair.x/data", "I32 [9]")
                .containsEntry("1/list/offsets", "I32 [10]");
    }

    /** pyarrow compresses a buffer with its padding, up to 8 bytes, also where its elements have 3. */
    @Test
    void theBytesOfACompressedBufferNeedNotBeWholeElements() throws IOException {
        try (LoadedArrays loaded = get(Loader.of(backend).load(Real.file("arrow/python.arrow")))) {
            assertThat(new String(bytes(loaded.get("0/fixed/data")), StandardCharsets.US_ASCII))
                    .isEqualTo("abc".repeat(100));
            assertThat(new String(bytes(loaded.get("1/fixed/data")), StandardCharsets.US_ASCII))
                    .isEqualTo("abc".repeat(50));
        }
    }

    /** Arrow Java compresses a buffer without bytes to the length 0. */
    @Test
    void aCompressedBufferWithoutBytesIsLeftOut() throws IOException {
        try (LoadedArrays loaded = get(Loader.of(backend).load(Real.file("arrow/java-empty.arrow")))) {
            assertThat(loaded.find("0/text/data")).isEmpty();
            assertThat(loaded.get("0/text/offsets").shape()).containsExactly(4L);
            assertThat(bytes(loaded.get("0/i/data"))).containsExactly(0, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0);
        }
    }

    @Test
    void aColumnWhoseElementsHaveNoBytesIsLeftOut() {
        ArrayFile file = read(Real.file("arrow/python-zero.arrow"));
        assertThat(file.arrays()).extracting(Array::name).containsExactly("0/i/data");
    }

    /** A column of vectors: one matrix for each record batch. */
    @ParameterizedTest
    @ValueSource(strings = {"java-vectors.arrow", "java-vectors-zstd.arrow"})
    void listsOfFixedSizeAreTheRowsOfAMatrix(String name) throws IOException {
        try (LoadedArrays loaded = get(Loader.of(backend).load(Real.file("arrow/" + name)))) {
            assertThat(loaded.get("0/embedding.item/data").shape()).containsExactly(100L, 5L);
            assertThat(loaded.get("1/code.item/data").shape()).containsExactly(7L, 3L);
            float[] floats = get(loaded.get("1/embedding.item/data").floats());
            assertThat(floats).hasSize(35).startsWith(500, 501).endsWith(533, 534);
            byte[] codes = bytes(loaded.get("0/code.item/data"));
            for (int i = 0; i < codes.length; i++) {
                assertThat(codes[i]).isEqualTo((byte) i);
            }
            assertThat(codes).hasSize(300);
        }
        for (LoadPlan.Placement placement :
                get(Loader.of(backend).explain(Real.file("arrow/" + name))).arrays()) {
            placement.contents(part -> {});
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"java-vectors.arrow", "java-vectors-zstd.arrow"})
    void theBatchesOfAColumnAreJoinedToOneMatrix(String name) throws IOException {
        Loader loader = Loader.of(backend).arrays("*/embedding.item/data");
        try (LoadedArrays loaded = get(loader.alignment(1).load(Real.file("arrow/" + name)))) {
            DeviceArray all = DeviceArray.joined("embedding", loaded.arrays());
            assertThat(all).hasToString("embedding F32 [107, 5]");
            float[] floats = get(all.floats());
            for (int i = 0; i < floats.length; i++) {
                assertThat(floats[i]).isEqualTo(i);
            }
        }
        try (LoadedArrays loaded = get(loader.load(Real.file("arrow/" + name)))) {
            assertThatThrownBy(() -> DeviceArray.joined("embedding", loaded.arrays()))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessage("array 1/embedding.item/data F32 [7, 5] at 2048 must lie behind"
                            + " 0/embedding.item/data F32 [100, 5], at 2000 of the same buffer, with rows as it has");
        }
        try (LoadedArrays loaded = get(Loader.of(backend).alignment(1).load(Real.file("arrow/" + name)))) {
            List<DeviceArray> mixed = loaded.arrays();
            assertThatThrownBy(() -> DeviceArray.joined("all", mixed)).isInstanceOf(IllegalArgumentException.class);
            assertThatThrownBy(() -> DeviceArray.joined("none", List.of()))
                    .isInstanceOf(IndexOutOfBoundsException.class);
        }
        assertThatThrownBy(() -> Loader.of(backend).alignment(0)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> Loader.of(backend).alignment(257)).isInstanceOf(IllegalArgumentException.class);
    }

    /** A file has a stream in it, behind its magic number. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "java.arrow",
                "java-lz4.arrow",
                "java-zstd.arrow",
                "java-empty.arrow",
                "python.arrow",
                "python-nested.arrow"
            })
    void aStreamHasTheArraysOfAFile(String name) throws IOException {
        Path file = Real.file("arrow/" + name);
        Path stream = Files.write(folder.resolve("data-00000-of-00001"), stream(file));
        assertThat(read(stream).format()).isEqualTo("Arrow stream");
        try (LoadedArrays ofFile = get(Loader.of(backend).load(file));
                LoadedArrays ofStream = get(Loader.of(backend).load(stream))) {
            assertThat(ofStream.arrays()).hasSameSizeAs(ofFile.arrays());
            for (DeviceArray array : ofFile.arrays()) {
                DeviceArray same = ofStream.get(array.name());
                assertThat(List.of(same.type(), same.shape(), same.byteOrder()))
                        .isEqualTo(List.of(array.type(), array.shape(), array.byteOrder()));
                assertThat(bytes(same)).as(array.name()).isEqualTo(bytes(array));
            }
        }
        for (LoadPlan.Placement placement :
                get(Loader.of(backend).explain(stream)).arrays()) { // as --verify reads them
            placement.contents(part -> {});
        }
    }

    /** Returns the stream in a file. */
    private static byte[] stream(Path file) throws IOException {
        byte[] all = Files.readAllBytes(file);
        int tail = Integer.BYTES + "ARROW1".length();
        int footer = ByteBuffer.wrap(all).order(ByteOrder.LITTLE_ENDIAN).getInt(all.length - tail);
        return Arrays.copyOfRange(all, 8, all.length - tail - footer);
    }

    /**
     * The format permits that a dictionary comes again, in place of the one before it or as a delta: what is behind a
     * replaced one would need another name for each batch.
     */
    @Test
    void aStreamThatReplacesADictionaryIsRefused() throws IOException {
        byte[] good = stream(Real.file("arrow/python-nested.arrow"));
        ByteBuffer bytes = ByteBuffer.wrap(good).order(ByteOrder.LITTLE_ENDIAN);
        int at = 0;
        int end = 0;
        for (byte type = 0;
                type != MessageHeader.DictionaryBatch;
                type = message(bytes, at).headerType()) {
            at = end;
            end = at + 8 + bytes.getInt(at + 4) + (int) message(bytes, at).bodyLength();
        }
        byte[] twice = new byte[good.length + end - at];
        System.arraycopy(good, 0, twice, 0, end);
        System.arraycopy(good, at, twice, end, good.length - at); // the dictionary again, and what followed it
        assertRefused(twice, "not supported, as a Arrow file: a stream that replaces dictionary 0");
    }

    private static Message message(ByteBuffer bytes, int at) {
        return Message.getRootAsMessage(
                bytes.duplicate().position(at + 8).slice().order(ByteOrder.LITTLE_ENDIAN));
    }

    /** Written by another program; the right values are those that it was given. */
    @Test
    void aStreamOfAnotherWriterIsRead() {
        try (LoadedArrays loaded = get(Loader.of(backend).load(CasesTest.path("stream.arrow")))) {
            assertThat(get(loaded.get("0/x/data").floats())).containsExactly(1f, 2f, 3f);
            assertThat(bytes(loaded.get("0/i/data"))).containsExactly(4, 0, 0, 0, 5, 0, 0, 0, 6, 0, 0, 0);
        }
    }

    @Test
    void aStreamThatIsCutOrHasOtherMessagesIsRefused() throws IOException {
        byte[] good = Files.readAllBytes(CasesTest.path("stream.arrow"));
        assertRefused(Arrays.copyOf(good, 380), "the stream is cut");
        assertRefused(Arrays.copyOf(good, 250), "a message at byte 192 takes 184 bytes, but the file ends after 58");
        byte[] batchFirst = Arrays.copyOfRange(good, 184, good.length);
        assertRefused(batchFirst, "the message at 0 must be a schema, was of type 3");
        byte[] twice = Arrays.copyOf(good, 184 + good.length);
        System.arraycopy(good, 0, twice, 184, good.length);
        assertRefused(twice, "the message at 184 must be a record batch or a dictionary, was of type 1");
        Path unended = folder.resolve("unended.arrow");
        Files.write(unended, Arrays.copyOf(good, good.length - 8)); // as of a writer that was closed without a word
        assertThat(read(unended).arrays()).hasSize(2);
    }

    /** The format: a stream ends with ffffffff 00000000, or with its file. Old streams, without marks, end with 0. */
    @Test
    void bytesBehindAStreamAreRefusedUnlessTheyArePermitted() throws IOException {
        byte[] good = Files.readAllBytes(CasesTest.path("stream.arrow"));
        int ended = good.length - 8;
        String permit = "FormatOption.TRAILING_BYTES of Formats.read, or --lenient, permits that";
        byte[] zeros = Arrays.copyOf(Arrays.copyOf(good, ended), ended + 4096); // as of blocks that were never written
        assertRefused(zeros, "its messages end at byte " + ended + ", but it has " + zeros.length + " bytes", permit);
        assertRefused(Arrays.copyOf(zeros, ended + 4), permit);
        assertRefused(Arrays.copyOf(zeros, ended + 3), permit);
        assertRefused(Arrays.copyOf(good, good.length + 1), "its messages end at byte " + good.length, permit);
        byte[] twice = Arrays.copyOf(good, 2 * good.length); // two streams in one file
        System.arraycopy(good, 0, twice, good.length, good.length);
        assertRefused(twice, "its messages end at byte " + good.length, permit);
        assertRefused(Arrays.copyOf(good, ended + 5), "a message at byte " + (ended + 4) + " takes 4 bytes");
        for (byte[] bytes : List.of(zeros, twice, Arrays.copyOf(zeros, ended + 3))) {
            Path path = Files.write(folder.resolve("lenient.arrow"), bytes);
            Loader loader = Loader.of(backend).formatOptions(FormatOption.TRAILING_BYTES);
            ArrayFile file = get(Formats.read(path, FormatOption.TRAILING_BYTES));
            int end = bytes == twice ? good.length : ended;
            assertThat(file.attributes()).containsEntry("trailing bytes", String.valueOf(bytes.length - end));
            try (LoadedArrays loaded = get(loader.load(path))) {
                assertThat(get(loaded.get("0/x/data").floats())).containsExactly(1f, 2f, 3f);
            }
            for (LoadPlan.Placement placement : get(loader.explain(path)).arrays()) {
                placement.contents(part -> {});
            }
        }
    }

    @Test
    void whatIsNoArrowFileIsRefused() throws IOException {
        byte[] good = Files.readAllBytes(Real.file("arrow/java.arrow"));
        assertRefused("FEA1....FEA1".getBytes(StandardCharsets.US_ASCII), "it is Feather of version 1");
        assertRefused(Arrays.copyOf(good, good.length - 1), "it must end with ARROW1");
        assertRefused(Arrays.copyOf(good, 9), "the end of the file would start at byte -1");
        byte[] footer = good.clone();
        footer[good.length - 7] = 0x7f;
        assertRefused(footer, "does not fit into it");
    }

    private void assertRefused(byte[] bytes, String... complaint) throws IOException {
        Path path = Files.write(folder.resolve("bad.arrow"), bytes);
        assertThatThrownBy(() -> read(path))
                .isInstanceOf(MalformedFileException.class)
                .hasMessageContainingAll(complaint);
    }

    @Test
    void aDamagedCompressedBufferIsAnErrorOfTheLoad() throws IOException {
        for (String name : List.of("java-lz4.arrow", "java-zstd.arrow")) {
            byte[] bytes = Files.readAllBytes(Real.file("arrow/" + name));
            ArrayFile good = read(Real.file("arrow/" + name));
            Array array = good.array("0/time/data").orElseThrow();
            long at =
                    ((Array.Data.Chunked) array.data()).chunks().get(0).extent().offset();
            bytes[(int) at] ^= 1;
            Path path = Files.write(folder.resolve(name), bytes);
            assertThatThrownBy(() -> get(Loader.of(backend).load(path)))
                    .isInstanceOf(MalformedFileException.class)
                    .hasMessageContaining("chunk [0] at byte " + at);
        }
    }
}
