// SPDX-License-Identifier: Apache-2.0
package io.penstock.formats;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.Backend;
import io.penstock.Backends;
import io.penstock.formats.codec.Codecs;
import io.penstock.formats.codec.Gzip;
import io.penstock.formats.read.GgmlType;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.zip.GZIPOutputStream;
import org.apache.arrow.flatbuf.Block;
import org.apache.arrow.flatbuf.Footer;
import org.apache.arrow.flatbuf.Message;
import org.apache.arrow.flatbuf.RecordBatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What a file has twice is compared, and what is absent is not taken for empty. */
class TwiceSaidTest {

    @TempDir
    Path folder;

    private static void assertRefused(Path path, String complaint) {
        assertThatThrownBy(() -> Formats.read(path).block())
                .isInstanceOf(MalformedFileException.class)
                .hasMessageContaining(complaint);
    }

    private Path array(String name, String document) throws IOException {
        Path array = Files.createDirectories(folder.resolve("array"));
        Files.writeString(array.resolve(name), document);
        return array;
    }

    private Path v2(String separator) throws IOException {
        return array(".zarray", """
                {"zarr_format": 2, "shape": [4, 4], "chunks": [2, 4], "dtype": "|u1", "fill_value": 0, "order": "C",
                 "compressor": null, "filters": null%s}""".formatted(separator));
    }

    private Path v3(String encoding) throws IOException {
        return array("zarr.json", """
                {"zarr_format": 3, "node_type": "array", "shape": [4, 4], "data_type": "uint8", "fill_value": 0,
                 "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [2, 4]}},
                 "chunk_key_encoding": %s, "codecs": ["bytes"]}""".formatted(encoding));
    }

    private static void chunk(Path array, String key) throws IOException {
        Path chunk = array.resolve(key);
        Files.createDirectories(chunk.resolveSibling(""));
        Files.write(chunk, new byte[8]);
    }

    /** Also where another chunk has the name that the metadata give: a part is not the whole. */
    @ParameterizedTest
    @CsvSource({
        "2, '', 0/0, 1.0",
        "2, ', \"dimension_separator\": \"/\"', 0.0, 1/0",
        "2, '', c/0/0, 1.0",
        "3, '\"default\"', 0/0, c/1/0",
        "3, '\"default\"', c.0.0, c/1/0",
        "3, '\"default\"', 0.0, c/1/0",
        "3, '\"default\"', c/0.0, c/1/0",
        "3, '{\"name\": \"default\", \"configuration\": {\"separator\": \".\"}}', c/0/0, c.1.0",
        "3, '\"v2\"', 0/0, 1.0",
        "3, '\"v2\"', c/0/0, 1.0",
        "3, '{\"name\": \"v2\", \"configuration\": {\"separator\": \"/\"}}', 0.0, 1/0"
    })
    void chunksUnderAnotherNamingAreNotMissingOnes(int version, String metadata, String elsewhere, String right)
            throws IOException {
        Path array = version == 2 ? v2(metadata) : v3(metadata);
        chunk(array, elsewhere);
        assertRefused(array, "a chunk lies at " + elsewhere + ", but by these metadata would be named ");
        chunk(array, right);
        assertRefused(array, "a chunk lies at " + elsewhere);
        Files.delete(array.resolve(elsewhere));
        Files.write(array.resolve("notes.0"), new byte[1]);
        chunk(array, elsewhere.contains("/") ? "9/9" : "9.9"); // of no grid: as left by an array that was larger
        ArrayFile file = Objects.requireNonNull(Formats.read(array).block());
        assertThat(((Array.Data.Chunked) file.arrays().get(0).data()).chunks()).hasSize(1);
    }

    @Test
    void allChunksCanBeDemanded() throws IOException {
        Path array = v2("");
        chunk(array, "1.0");
        try (Backend backend = Backends.open("host")) {
            Loader all = Loader.of(backend).allChunks();
            assertThatThrownBy(() -> all.load(array).block())
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessage("array array has 1 of 2 chunks: the others are missing");
            Objects.requireNonNull(Loader.of(backend).load(array).block()).close();
            Objects.requireNonNull(all.littleEndian()
                            .slice(Slice.rows(1, 2))
                            .load(array)
                            .block())
                    .close();
            chunk(array, "0.0");
            Objects.requireNonNull(all.load(array).block()).close();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"\"compressor\": null, ", ", \"filters\": null", "\"fill_value\": 0, "})
    void membersThatZarrDemandsMayNotBeAbsent(String member) throws IOException {
        Path document = v2("").resolve(".zarray");
        String text = Files.readString(document);
        assertThat(text).contains(member);
        Files.writeString(document, text.replace(member, ""));
        assertRefused(document, "it must have ");
    }

    @Test
    void aFillValueMayNotBeAbsent() throws IOException {
        Path document = v3("\"default\"").resolve("zarr.json");
        Files.writeString(document, Files.readString(document).replace("\"fill_value\": 0,", ""));
        assertRefused(document, "it must have fill_value");
    }

    @Test
    void aFillValueOfWholeNumbersIsOne() throws IOException {
        Path document = v3("\"default\"").resolve("zarr.json");
        Files.writeString(document, Files.readString(document).replace("\"fill_value\": 0,", "\"fill_value\": 1.5,"));
        assertRefused(document, "fill_value 1.5 of U8 is not supported");
    }

    @Test
    void damagedAttributesHideNoArray() throws IOException {
        Path array = v2("");
        Files.writeString(array.resolve(".zattrs"), "{");
        ArrayFile file = Objects.requireNonNull(Formats.read(array).block());
        assertThat(file.arrays()).hasSize(1);
        assertThat(file.attributes().get("attributes"))
                .contains("not a valid Zarr file")
                .doesNotContain("Source");
    }

    private static Footer footer(byte[] bytes) {
        int end = bytes.length - 10;
        int length = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN).getInt(end);
        return Footer.getRootAsFooter(
                ByteBuffer.wrap(Arrays.copyOfRange(bytes, end - length, end)).order(ByteOrder.LITTLE_ENDIAN));
    }

    /** Two lengths of each block: by the footer, and by the message. */
    @ParameterizedTest
    @CsvSource({"java.arrow, 8, -8", "java.arrow, 8, 8", "java.arrow, 16, 8", "js.arrow, 8, -8", "js.arrow, 16, -8"})
    void theLengthsOfABlockAreCompared(String name, int at, int change) throws IOException {
        byte[] bytes = Files.readAllBytes(Real.file("arrow/" + name));
        int end = bytes.length - 10;
        ByteBuffer footer = footer(bytes).getByteBuffer();
        int length = footer.limit();
        Block block = Objects.requireNonNull(footer(bytes).recordBatches(0));
        int place = 0; // where the offset and the length of the metadata lie side by side
        while (footer.getLong(place) != block.offset() || footer.getInt(place + 8) != block.metaDataLength()) {
            place++;
        }
        byte[] changed = bytes.clone();
        ByteBuffer all = ByteBuffer.wrap(changed).order(ByteOrder.LITTLE_ENDIAN);
        all.putInt(end - length + place + at, all.getInt(end - length + place + at) + change);
        assertRefused(Files.write(folder.resolve("a.arrow"), changed), " by the footer, but ");
    }

    /** Each byte of the first message's schema: what is read is what its footer says, or the file is refused. */
    @ParameterizedTest
    @ValueSource(strings = {"java.arrow", "python.arrow"})
    void theSchemaOfTheFirstMessageIsComparedWithTheFooter(String name) throws IOException {
        byte[] bytes = Files.readAllBytes(Real.file("arrow/" + name));
        ArrayFile whole =
                Objects.requireNonNull(Formats.read(Real.file("arrow/" + name)).block());
        int end = (int) Objects.requireNonNull(footer(bytes).recordBatches(0)).offset();
        int refused = 0;
        for (int at = 16; at < end; at++) {
            byte[] changed = bytes.clone();
            changed[at] ^= 1;
            Path path = Files.write(folder.resolve(name), changed);
            try {
                List<Array> arrays =
                        Objects.requireNonNull(Formats.read(path).block()).arrays();
                assertThat(arrays)
                        .extracting(Array::name)
                        .isEqualTo(whole.arrays().stream().map(Array::name).toList());
            } catch (MalformedFileException e) {
                refused += e.getMessage().contains("is not the schema of its footer") ? 1 : 0;
            }
        }
        assertThat(refused).isGreaterThan(3);
    }

    /** Each buffer of a batch in turn is said to have no bytes: refused, or one that no row needs. */
    @Test
    void absenceIsNoEmptiness() throws IOException {
        byte[] bytes = Files.readAllBytes(Real.file("arrow/java.arrow"));
        ArrayFile whole = Objects.requireNonNull(
                Formats.read(Real.file("arrow/java.arrow")).block());
        Block block = Objects.requireNonNull(footer(bytes).recordBatches(0));
        int refused = 0;
        int start = (int) block.offset();
        int body = start + block.metaDataLength();
        ByteBuffer all = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
        for (Array array : whole.arrays()) {
            if (!array.name().startsWith("0/") || array.name().endsWith("/validity")) {
                continue; // which may be absent where no row is null
            }
            long offset = ((Extent) array.data()).offset() - body;
            for (int at = start; offset > 0 && at < body - 16; at += 4) { // 0 is at other places too
                long length = all.getLong(at + 8);
                if (all.getLong(at) == offset && length >= array.bytes() && length < array.bytes() + 64) {
                    byte[] changed = bytes.clone();
                    ByteBuffer.wrap(changed).order(ByteOrder.LITTLE_ENDIAN).putLong(at + 8, 0);
                    Path path = Files.write(folder.resolve("a.arrow"), changed);
                    assertThatThrownBy(() -> Formats.read(path).block())
                            .as(array.name())
                            .isInstanceOf(MalformedFileException.class)
                            .hasMessageContaining("buffer " + array.name() + " has no bytes");
                    refused++;
                    break;
                }
            }
        }
        assertThat(refused).isGreaterThan(15);
    }

    private static void verify(Path file) throws IOException {
        try (Backend backend = Backends.open("host")) {
            ArrayFile read = Objects.requireNonNull(Formats.read(file).block());
            for (LoadPlan.Placement placement : Loader.of(backend).explain(read).arrays()) {
                placement.contents(part -> {});
            }
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"java", "java-lz4", "java-zstd", "java-empty", "js", "python"})
    void theNullsOfAFieldAreCountedAndAgree(String name) throws IOException {
        verify(Real.file("arrow/" + name + ".arrow"));
    }

    /** Each bit of each validity of a batch in turn. */
    @Test
    void aBitmapThatContradictsTheNumberOfNullsIsRefused() throws IOException {
        Path original = Real.file("arrow/java.arrow");
        byte[] bytes = Files.readAllBytes(original);
        int refused = 0;
        for (Array array :
                Objects.requireNonNull(Formats.read(original).block()).arrays()) {
            if (!array.name().endsWith("/validity")) {
                continue;
            }
            Extent bitmap = (Extent) array.data();
            byte[] changed = bytes.clone();
            int at = (int) bitmap.offset();
            changed[at] = (byte) (changed[at] ^ (1 << (refused % 8)));
            Path file = Files.write(folder.resolve("a.arrow"), changed);
            assertThatThrownBy(() -> verify(file))
                    .isInstanceOf(MalformedFileException.class)
                    .hasMessageContaining("buffer " + array.name() + " at byte " + bitmap.offset() + ": its field has ")
                    .hasMessageMatching("(?s).* nulls in 9 rows by the record batch, but . by its validity.*");
            refused++;
        }
        assertThat(refused).isGreaterThan(15);
    }

    /** Each number of nulls in turn; buffers that are decoded are refused by the load itself. */
    @ParameterizedTest
    @ValueSource(strings = {"java-lz4.arrow", "java-zstd.arrow"})
    void aNumberOfNullsThatContradictsADecodedBitmapIsRefused(String name) throws IOException {
        byte[] bytes = Files.readAllBytes(Real.file("arrow/" + name));
        Block block = Objects.requireNonNull(footer(bytes).recordBatches(0));
        ByteBuffer all = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
        int start = (int) block.offset();
        ByteBuffer message = all.slice(start + 8, block.metaDataLength() - 8).order(ByteOrder.LITTLE_ENDIAN);
        RecordBatch batch = Objects.requireNonNull(
                (RecordBatch) Message.getRootAsMessage(message).header(new RecordBatch()));
        int refused = 0;
        int decoded = 0; // and that by the load
        for (int at = start; at < start + block.metaDataLength() - 16; at += 4) {
            long nulls = all.getLong(at + 8);
            if (all.getLong(at) != batch.length() || nulls < 1 || nulls >= batch.length()) {
                continue; // no node of a field with nulls
            }
            byte[] changed = bytes.clone();
            changed[at + 8]--;
            Path file = Files.write(folder.resolve(name), changed);
            assertThatThrownBy(() -> verify(file))
                    .isInstanceOf(MalformedFileException.class)
                    .hasMessageMatching("(?s).*buffer 0/.*/validity.*: its field has .* nulls in " + batch.length()
                            + " rows by .*");
            decoded += isLoaded(file) ? 0 : 1;
            refused++;
        }
        assertThat(refused).isPositive();
        assertThat(decoded).as("refused by the load itself").isEqualTo(name.equals("java-zstd.arrow") ? refused : 0);
    }

    private static boolean isLoaded(Path file) {
        try (Backend backend = Backends.open("host")) {
            Objects.requireNonNull(Loader.of(backend).load(file).block()).close();
            return true;
        } catch (MalformedFileException e) {
            return false;
        }
    }

    @Test
    void aDecodedBitmapHasTheNumberOfNullsThatItsFieldHas() throws Codecs.Malformed {
        byte[] bitmap = {(byte) 0b1111_0111, (byte) 0b1111_1101}; // 2 of 10 rows, and padding
        List<String> right = List.of(Codecs.nulls(10, 2, "0/a:b/validity"));
        assertThat(Codecs.decode(right, bitmap, 2)).isEqualTo(bitmap);
        List<String> wrong = List.of(Codecs.nulls(10, 1, "0/a:b/validity"));
        assertThatThrownBy(() -> Codecs.decode(wrong, bitmap, 2))
                .isInstanceOf(Codecs.Malformed.class)
                .hasMessage("arrow-nulls: buffer 0/a:b/validity: its field has 1 nulls in 10 rows by the record batch,"
                        + " but 2 by its validity");
        assertThatThrownBy(() -> Codecs.decode(right, new byte[1], 2)).hasMessageContaining("must have 2 bytes");
    }

    @ParameterizedTest
    @CsvSource({
        "split.no, 1, 'split.no is 1, but 0 by its name'",
        "split.count, 3, 'split.count is 3, but by its name it is one of 2 parts'",
        "split.tensors.count, 1, 'split.tensors.count is 1, but 0 in its files'"
    })
    void thePartsOfAModelAreTheWhole(String key, int value, String complaint) throws IOException {
        for (int i = 1; i <= 2; i++) {
            Path part = folder.resolve("m-0000" + i + "-of-00002.gguf");
            Files.write(part, i == 1 ? gguf(key, value, 0) : gguf("", 0, 1));
        }
        assertRefused(folder.resolve("m-00002-of-00002.gguf"), complaint);
    }

    @Test
    void aPartUnderAnotherNameIsNoModel() throws IOException {
        Path file = Files.write(folder.resolve("m.gguf"), gguf("split.count", 2, 0));
        assertRefused(file, "split.count is 2, but by its name it is a model in one file");
    }

    /** Returns a file without arrays: with its number, and a value more. */
    private static byte[] gguf(String key, int value, int number) {
        ByteBuffer bytes = ByteBuffer.allocate(200).order(ByteOrder.LITTLE_ENDIAN);
        bytes.put("GGUF".getBytes(StandardCharsets.US_ASCII))
                .putInt(3)
                .putLong(0)
                .putLong(3);
        List<String> keys = List.of("split.no", "split.count", "split.tensors.count");
        List<Integer> values = List.of(number, 2, 0);
        for (int i = 0; i < keys.size(); i++) {
            bytes.putLong(keys.get(i).length()).put(keys.get(i).getBytes(StandardCharsets.US_ASCII));
            bytes.putInt(4 /* UINT32 */).putInt(keys.get(i).equals(key) ? value : values.get(i));
        }
        return Arrays.copyOf(bytes.array(), bytes.position());
    }

    @Test
    void removedTypesAreNamedAndNoneUnknownIsSliced() {
        assertThat(GgmlType.story(4)).isEqualTo("Q4_2, which ggml has removed");
        assertThat(GgmlType.story(99)).isEqualTo("not a type of ggml as of 2026-08, perhaps a newer one");
        List<Long> shape = List.of(144L);
        Array array = new Array(
                "a",
                GgmlType.unknown(99),
                shape,
                ByteOrder.LITTLE_ENDIAN,
                Array.Order.ROW_MAJOR,
                new Extent(folder, 0, 144));
        assertThat(Slice.rows(0, 1).cut(array, (Extent) array.data()).shape()).isEqualTo(shape);
        for (Slice slice : List.of(Slice.rows(0, 2), Slice.columns(1, 2))) {
            assertThatThrownBy(() -> slice.cut(array, (Extent) array.data()))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("array a cannot be sliced: it is of the type GGML_99");
        }
    }

    /** Members one behind the other are one text; zeros may follow. */
    @Test
    void nothingFollowsTheMembersOfGzip() throws Exception {
        ByteArrayOutputStream all = new ByteArrayOutputStream();
        for (String text : List.of("ab", "cde")) {
            try (GZIPOutputStream out = new GZIPOutputStream(all)) {
                out.write(text.getBytes(StandardCharsets.US_ASCII));
            }
        }
        byte[] two = all.toByteArray();
        assertThat(Gzip.decode(two, 5)).asString(StandardCharsets.US_ASCII).isEqualTo("abcde");
        assertThat(Gzip.decode(Arrays.copyOf(two, two.length + 9), 9)).hasSize(5);
        assertThatThrownBy(() -> Gzip.decode(two, 4)).hasMessage("there are more than 4 bytes");
        byte[] junk = Arrays.copyOf(two, two.length + 12);
        junk[two.length] = 7;
        assertThatThrownBy(() -> Gzip.decode(junk, 9)).hasMessageContaining("must be a member");
        for (int length = 0; length < two.length; length++) {
            byte[] cut = Arrays.copyOf(two, length);
            boolean whole = length == two.length - 23; // the first member alone
            if (!whole) {
                assertThatThrownBy(() -> Gzip.decode(cut, 9))
                        .as("%s bytes", length)
                        .isInstanceOf(Codecs.Malformed.class);
            }
        }
    }

    @Test
    void aTextOfTheFileIsCutAndOnOneLine() throws IOException {
        String key = "k\n\u001b" + "x".repeat(60_000);
        ByteBuffer bytes = ByteBuffer.allocate(61_000).order(ByteOrder.LITTLE_ENDIAN);
        bytes.put("GGUF".getBytes(StandardCharsets.US_ASCII))
                .putInt(3)
                .putLong(0)
                .putLong(1);
        bytes.putLong(key.length()).put(key.getBytes(StandardCharsets.US_ASCII)).putInt(99);
        Path file = Files.write(folder.resolve("a.gguf"), bytes.array());
        assertThatThrownBy(() -> Formats.read(file).block())
                .isInstanceOf(MalformedFileException.class)
                .hasMessageEndingWith(" has the unknown type 99")
                .satisfies(e -> assertThat(e.getMessage()).hasSizeLessThan(1500).doesNotContainPattern("\\p{Cntrl}"));
    }
}
