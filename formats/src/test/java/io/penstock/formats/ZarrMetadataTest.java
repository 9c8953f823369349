// SPDX-License-Identifier: Apache-2.0
package io.penstock.formats;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.formats.read.ZarrReader;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Documents of Zarr as other implementations write them, and how chunks can lie. */
class ZarrMetadataTest {

    @TempDir
    Path folder;

    private Path v3(String type, String fill, String attributes) throws IOException {
        Path array = Files.createDirectories(folder.resolve("a"));
        Files.writeString(array.resolve("zarr.json"), """
                {"zarr_format": 3, "node_type": "array", "shape": [4], "data_type": "%s", "fill_value": %s,
                 "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [2]}},
                 "chunk_key_encoding": {"name": "default"}, "attributes": %s,
                 "codecs": [{"name": "bytes", "configuration": {"endian": "little"}}]}
                """.formatted(type, fill, attributes));
        return array;
    }

    private static Array.Data.Chunked data(Path array) throws IOException {
        return (Array.Data.Chunked)
                new ZarrReader().read(array, Set.of()).arrays().get(0).data();
    }

    private static ByteBuffer fill(Path array) throws IOException {
        List<Byte> fill = data(array).fill();
        ByteBuffer bytes = ByteBuffer.allocate(fill.size()).order(ByteOrder.LITTLE_ENDIAN);
        fill.forEach(bytes::put);
        return bytes.flip();
    }

    private static Path with(Path array, String text, String replacement) throws IOException {
        Path document = array.resolve("zarr.json");
        String before = Files.readString(document);
        assertThat(before).contains(text);
        Files.writeString(document, before.replace(text, replacement));
        return array;
    }

    /** It may change what the chunks mean. The specification has it refused. */
    @ParameterizedTest
    @ValueSource(strings = {"{\"name\": \"x\", \"must_understand\": true}", "{\"name\": \"x\"}", "1"})
    void anUnknownMemberOfAnArrayIsNotSupported(String value) throws IOException {
        Path array = with(v3("uint8", "9", "{}"), "\"codecs\"", "\"twist\": " + value + ", \"codecs\"");
        assertThatThrownBy(() -> new ZarrReader().read(array, Set.of()))
                .isInstanceOf(MalformedFileException.class)
                .hasMessageEndingWith("the member twist is not supported");
    }

    private Path v2(String type, String fill) throws IOException {
        Path array = Files.createDirectories(folder.resolve("v2"));
        Files.writeString(array.resolve(".zarray"), """
                {"zarr_format": 2, "shape": [4], "chunks": [4], "dtype": "%s", "fill_value": %s, "compressor": null,
                "filters": null, "order": "C"}
                """.formatted(type, fill));
        return array;
    }

    /** Before anything is allocated, as any codec that is not known. */
    @ParameterizedTest
    @CsvSource({
        "'\"cname\": \"snappy\"', blosc (snappy)",
        "'\"cname\": \"blosclz\", \"shuffle\": 1', blosc (blosclz)",
        "'\"cname\": \"zstd\", \"shuffle\": 2', blosc",
        "'\"cname\": \"lz4hc\", \"shuffle\": 1', blosc",
        "'\"clevel\": 5', blosc"
    })
    void whatOfBloscCannotBeDecodedIsToldByTheName(String configuration, String name) throws IOException {
        Path array = v2("|u1", "0");
        Files.write(array.resolve("0"), new byte[20]);
        Path document = array.resolve(".zarray");
        String compressor = "\"compressor\": {\"id\": \"blosc\", " + configuration + "}";
        Files.writeString(document, Files.readString(document).replace("\"compressor\": null", compressor));
        assertThat(data(array).chunks().get(0).codecs()).containsExactly(name);
        String text = "{\"name\": \"bytes\", \"configuration\": {\"endian\": \"little\"}}";
        Path third = with(
                v3("uint8", "0", "{}"),
                text,
                text + ", {\"name\": \"blosc\", \"configuration\": {"
                        + configuration.replace("2", "\"bitshuffle\"").replace("1", "\"shuffle\"") + "}}");
        Files.createDirectories(third.resolve("c"));
        Files.write(third.resolve("c/0"), new byte[20]);
        assertThat(data(third).chunks().get(0).codecs()).containsExactly(name);
    }

    /** As zarr-python writes them: times as whole numbers, bytes as base64, text as it is. */
    @ParameterizedTest
    @CsvSource({
        "<M8[ns], -9223372036854775808, 0000000000000080",
        "<m8[s], 3, 0300000000000000",
        ">M8[D], 3, 0000000000000003",
        "<M8[D], '\"NaT\"', 0000000000000080",
        "|S3, '\"eHk=\"', 787900",
        "|V2, '\"AQI=\"', 0102",
        "<U2, '\"\u20ac\"', ac20000000000000",
        ">U1, '\"a\"', 00000061"
    })
    void timesAndTextsHaveFillValues(String type, String fill, String expected) throws IOException {
        List<Byte> bytes = data(v2(type, fill)).fill();
        StringBuilder hex = new StringBuilder();
        bytes.forEach(b -> hex.append(String.format("%02x", b)));
        assertThat(hex).hasToString(expected);
    }

    @ParameterizedTest
    @CsvSource({"|S1, '\"eHk=\"'", "|S3, '\"*\"'", "<U1, '\"ab\"'", "<M8[D], '\"now\"'", "|S5000, '\"eHk=\"'"})
    void aFillValueThatIsLongerOrNoneIsRefused(String type, String fill) throws IOException {
        Path array = v2(type, fill);
        assertThatThrownBy(() -> data(array)).hasMessageContaining("fill_value " + fill + " of ");
    }

    @Test
    void anUnknownMemberThatNeedNotBeUnderstoodIsIgnored() throws IOException {
        Path array = with(
                v3("uint8", "9", "{}"),
                "\"codecs\"",
                "\"twist\": {\"must_understand\": false}, \"dimension_names\": [null], \"codecs\"");
        assertThat(data(array).chunkShape()).containsExactly(2L);
    }

    /** Since 3.1 each extension point may be a string or an object. */
    @Test
    void anExtensionPointIsAStringOrAnObject() throws IOException {
        Path array = with(v3("int16", "9", "{}"), "{\"name\": \"default\"}", "\"default\"");
        Files.createDirectory(array.resolve("c"));
        Files.write(array.resolve("c/1"), new byte[4]);
        assertThat(data(array).chunks()).hasSize(1);
        with(array, "\"int16\"", "{\"name\": \"int16\"}");
        assertThat(new ZarrReader().read(array, Set.of()).arrays().get(0).type())
                .isEqualTo(ElementType.I16);
        with(array, "{\"name\": \"int16\"}", "{\"name\": \"int16\", \"configuration\": {\"unit\": \"s\"}}");
        assertThatThrownBy(() -> new ZarrReader().read(array, Set.of()))
                .hasMessageContaining("data_type {name=int16, configuration={unit=s}} is not supported");
    }

    @ParameterizedTest
    @CsvSource({
        "uint64, 18446744073709551615, -1",
        "uint64, 18446744073709551614, -2",
        "uint64, 9223372036854775809, -9223372036854775807",
        "uint64, 9007199254740993, 9007199254740993",
        "int64, -9223372036854775808, -9223372036854775808",
        "int64, 9223372036854775807, 9223372036854775807",
    })
    void aWholeFillValueIsExact(String type, String fill, long expected) throws IOException {
        assertThat(fill(v3(type, fill, "{}")).getLong()).isEqualTo(expected);
    }

    @ParameterizedTest
    @CsvSource({
        "uint8, 256",
        "uint8, -1",
        "int8, 128",
        "int8, -129",
        "uint32, 4294967296",
        "uint64, 18446744073709551616",
        "uint64, -1",
        "int64, 9223372036854775808",
        "int32, \"NaN\"",
        "int16, \"Infinity\"",
        "bool, 2",
    })
    void aFillValueThatTheTypeDoesNotHaveIsRefused(String type, String fill) throws IOException {
        Path array = v3(type, fill, "{}");
        assertThatThrownBy(() -> new ZarrReader().read(array, Set.of()))
                .isInstanceOf(MalformedFileException.class)
                .hasMessageContaining("fill_value " + fill + " of ")
                .hasMessageEndingWith("is not supported");
    }

    @Test
    void thePartsOfAComplexFillValueMayBeBits() throws IOException {
        ByteBuffer fill = fill(v3("complex64", "[\"0x3f800000\", \"0x7fc00001\"]", "{}"));
        assertThat(fill.getInt()).isEqualTo(0x3f800000);
        assertThat(fill.getInt()).isEqualTo(0x7fc00001);
        Path wrong = v3("complex64", "[\"0x3f80000000000000\", 0]", "{}");
        assertThatThrownBy(() -> new ZarrReader().read(wrong, Set.of()))
                .hasMessageContaining("must have 8 digits of 16");
    }

    /** Python's json writes them so, and with it zarr-python. */
    @Test
    void numbersThatAreNoneAreRead() throws IOException {
        Path array = v3("float32", "NaN", "{\"missing\": NaN, \"range\": [-Infinity, Infinity]}");
        assertThat(fill(array).getFloat()).isNaN();
        assertThat(new ZarrReader().read(array, Set.of()).attributes())
                .containsEntry("missing", "NaN")
                .containsEntry("range", "[-Infinity, Infinity]");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "\"none\"",
                "5",
                "null",
                "[1]",
                "[{\"datasets\": 1}]",
                "[{\"datasets\": [\"0\"]}]",
                "[{\"datasets\": [{\"path\": 1}]}]"
            })
    void attributesThatOnlyHaveNamesOfImagesAreText(String value) throws IOException {
        Path array = v3("uint8", "0", "{\"multiscales\": " + value + ", \"other\": 1}");
        assertThat(new ZarrReader().read(array, Set.of()).attributes()).containsOnlyKeys("multiscales", "other");
        Path ome = v3("uint8", "0", "{\"ome\": " + value + ", \"other\": 1}");
        assertThat(new ZarrReader().read(ome, Set.of()).attributes()).containsOnlyKeys("ome", "other");
        Path both = v3("uint8", "0", "{\"ome\": {\"multiscales\": " + value + "}, \"other\": 1}");
        assertThat(new ZarrReader().read(both, Set.of()).attributes()).containsOnlyKeys("ome", "other");
    }

    /** Data sets that are kept apart from their names, as git-annex and DVC do it, have links for chunks. */
    @Test
    void chunksMayBeLinks() throws IOException {
        Path array = v3("uint8", "9", "{}");
        Path far = Files.createDirectory(folder.resolve("far"));
        Files.write(far.resolve("chunk"), new byte[] {1, 2});
        Files.write(far.resolve("1"), new byte[] {3, 4});
        Files.createDirectory(array.resolve("c"));
        Files.createSymbolicLink(array.resolve("c/0"), far.resolve("chunk"));
        Files.createSymbolicLink(array.resolve("c/1"), far.resolve("1"));
        Files.createSymbolicLink(array.resolve("loop"), array);
        assertThat(data(array).chunks())
                .extracting(Array.ChunkData::position)
                .containsExactly(List.of(0L), List.of(1L));
        Files.delete(array.resolve("c/1"));
        Files.delete(array.resolve("c/0"));
        Files.delete(array.resolve("c"));
        Files.createSymbolicLink(array.resolve("c"), far);
        assertThat(data(array).chunks()).extracting(Array.ChunkData::position).containsExactly(List.of(1L));
    }

    @Test
    void aChunkThatIsALinkToNothingIsNotTakenForAMissingOne() throws IOException {
        Path array = v3("uint8", "9", "{}");
        Files.createDirectory(array.resolve("c"));
        Files.createSymbolicLink(array.resolve("c/0"), folder.resolve("absent"));
        assertThatThrownBy(() -> new ZarrReader().read(array, Set.of()))
                .isInstanceOf(FileSystemException.class)
                .hasMessageContaining(array.resolve("c/0") + ": a chunk must be a regular file");
    }

    /** As for the system: {@code ..} is the parent of where a link leads, not of where it lies. */
    @Test
    void thePathIsFollowedAsTheSystemFollowsIt() throws IOException {
        Path near = v3("uint8", "9", "{}");
        Path far = Files.createDirectories(folder.resolve("far/a"));
        Files.writeString(
                far.resolve("zarr.json"),
                Files.readString(near.resolve("zarr.json")).replace("9", "7"));
        Files.createSymbolicLink(folder.resolve("link"), Files.createDirectory(folder.resolve("far/sub")));
        assertThat(data(folder.resolve("link/../a")).fill()).containsExactly((byte) 7);
        assertThat(data(folder.resolve("link/../a/zarr.json")).fill()).containsExactly((byte) 7);
        Files.createDirectory(near.resolve("c"));
        assertThat(new ZarrReader().read(near.resolve("c/.."), Set.of()).arrays())
                .extracting(Array::name)
                .containsExactly("a");
        assertThat(new ZarrReader().read(near.resolve("."), Set.of()).arrays())
                .extracting(Array::name)
                .containsExactly("a");
    }
}
