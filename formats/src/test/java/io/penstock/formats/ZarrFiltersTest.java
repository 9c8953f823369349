// SPDX-License-Identifier: Apache-2.0
package io.penstock.formats;

import static io.penstock.formats.LoaderTest.bytes;
import static io.penstock.formats.LoaderTest.get;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.Backend;
import io.penstock.Backends;
import io.penstock.formats.codec.Codecs;
import io.penstock.formats.load.Assembly;
import java.io.File;
import java.io.IOException;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HexFormat;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Codecs and filters of numcodecs. Chunks of {@code bz2} and {@code lzma} were written by Python's modules of these
 * names; chunks of filters follow from what numcodecs defines.
 */
class ZarrFiltersTest {

    private static final String RAMP = "0102030405060708090a0b0c0d0e0f10";
    private static final String BZ2 =
            "425a68393141592653590daae52a00000060003fffc0002000228c980014c00134cf00fc8d159e26af345d"
                    + "c914e1424036ab94a8";
    private static final String XZ =
            "fd377a585a000004e6d6b4460200210116000000742fe5a301000f0102030405060708090a0b0c0d0e0f1000"
                    + "dd1c69938637fbda00012810e50b6c601fb6f37d010000000004595a";
    private static final String ALONE =
            "5d00008000ffffffffffffffff0000809d61d30d5dae193edb84281d3429a83694ffffdb000000";

    // By xz: of 3 GiB, and with sizes in the header; of two blocks, each with 8 MiB. By LZMA alone: of 3.75 GiB.
    private static final String XZ_LARGE =
            "fd377a585a0000016922de3602c0141021012700998034d001000f0102030405060708090a0b0c0d0e0f10"
                    + "00f1804c0900012410e944d9cc9042990d010000000001595a";
    private static final String XZ_TWO =
            "fd377a585a0000016922de3602c00c08210116009edb7ca9010007010203040506070800c588ca3f020021"
                    + "0116000000742fe5a3010007090a0b0c0d0e0f1000b27ff11300021c081c080000fefe05a23e300d8b0200"
                    + "00000001595a";
    private static final String ALONE_LARGE =
            "5d000000f0ffffffffffffffff0000809d61d30d5dae193edb84281d3429a83694ffffdb000000";

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

    private Path v2(String type, int count, String filters, String compressor, String chunk) throws IOException {
        Path array = Files.createDirectories(folder.resolve("a"));
        Files.writeString(
                array.resolve(".zarray"),
                "{\"zarr_format\":2,\"shape\":[%d],\"chunks\":[%d],\"dtype\":\"%s\",\"fill_value\":0,\"order\":\"C\","
                                .formatted(count, count, type)
                        + "\"filters\":" + filters + ",\"compressor\":" + compressor + "}");
        Files.write(array.resolve("0"), HexFormat.of().parseHex(chunk));
        return array;
    }

    private Path v3(String type, int count, String codecs, String chunk) throws IOException {
        Path array = Files.createDirectories(folder.resolve("v3/a"));
        Files.writeString(
                array.resolve("zarr.json"),
                "{\"zarr_format\":3,\"node_type\":\"array\",\"shape\":[%d],\"data_type\":\"%s\",\"fill_value\":0,"
                                .formatted(count, type)
                        + "\"chunk_grid\":{\"name\":\"regular\",\"configuration\":{\"chunk_shape\":[" + count + "]}},"
                        + "\"chunk_key_encoding\":\"default\",\"codecs\":" + codecs + "}");
        Files.createDirectories(array.resolve("c"));
        Files.write(array.resolve("c/0"), HexFormat.of().parseHex(chunk));
        return array;
    }

    private static void assertLoads(Path array, String hex) {
        try (LoadedArrays loaded = get(Loader.of(backend).load(array))) {
            assertThat(HexFormat.of().formatHex(bytes(loaded.get("a")))).isEqualTo(hex);
        }
    }

    private static void assertRefused(Path array, String complaint) {
        assertThatThrownBy(() -> get(Loader.of(backend).load(array)).close())
                .isInstanceOf(MalformedFileException.class)
                .hasMessageContaining(complaint);
    }

    @ParameterizedTest
    @CsvSource({"bz2, " + BZ2, "lzma, " + XZ, "lzma, " + ALONE})
    void whatACompressorOfPythonWroteIsDecoded(String id, String chunk) throws IOException {
        assertLoads(v2("|u1", 16, "null", "{\"id\":\"" + id + "\"}", chunk), RAMP);
        String codecs = "[{\"name\":\"bytes\"},{\"name\":\"numcodecs." + id + "\",\"configuration\":{}}]";
        assertLoads(v3("uint8", 16, codecs, chunk), RAMP);
    }

    @ParameterizedTest
    @CsvSource({"bz2, " + BZ2, "lzma, " + XZ})
    void whatIsDamagedOrLongerIsRefused(String id, String chunk) throws IOException {
        String compressor = "{\"id\":\"" + id + "\"}";
        assertRefused(v2("|u1", 15, "null", compressor, chunk), id + ": there are more than 15 bytes");
        assertRefused(v2("|u1", 17, "null", compressor, chunk), "it must have 17 bytes once decoded, had 16");
        assertRefused(v2("|u1", 16, "null", compressor, chunk + "01020304"), id + ": ");
        assertRefused(v2("|u1", 16, "null", compressor, chunk.substring(0, 60)), id + ": the data are damaged: ");
    }

    /** Data state a dictionary of 8 MiB, or of 4 GiB, however few they are: none is allocated that they cannot need. */
    @ParameterizedTest
    @ValueSource(strings = {XZ, XZ_LARGE, ALONE, ALONE_LARGE})
    void aDictionaryIsAsLargeAsTheChunkCanNeed(String chunk) throws IOException {
        byte[] stored = HexFormat.of().parseHex(chunk);
        FuzzTarget.assertAllocates(1 << 20, () -> {
            try {
                assertThat(HexFormat.of().formatHex(Codecs.decode(List.of("lzma"), stored, 16)))
                        .isEqualTo(RAMP);
            } catch (Codecs.Malformed e) {
                throw new IOException(e);
            }
        });
        assertLoads(v2("|u1", 16, "null", "{\"id\":\"lzma\"}", chunk), RAMP);
    }

    /** Python writes one block, whose dictionary is lowered. */
    @Test
    void aLargerDictionaryOfAnotherBlockIsRefused() throws IOException {
        assertRefused(
                v2("|u1", 16, "null", "{\"id\":\"lzma\"}", XZ_TWO),
                "lzma: its dictionary is larger than 16 bytes can need: ");
    }

    /** Loaders have as many chunks at a time as the memory permits, the decoders' own included. */
    @ParameterizedTest
    @CsvSource({"lzma, 2621440", "bz2, 6291456", "gzip, 1048576"})
    void theMemoryOfADecoderIsCounted(String codec, long least) {
        Array.ChunkData chunk =
                new Array.ChunkData(List.of(0L), new Extent(Path.of("chunk"), 0, 100_000), List.of(codec));
        Array array = new Array(
                "a",
                ElementType.U8,
                List.of(1L << 20),
                ByteOrder.LITTLE_ENDIAN,
                Array.Order.ROW_MAJOR,
                new Array.Data.Chunked(List.of(1L << 20), List.of(), List.of(chunk), List.of()));
        long bytes = Assembly.slabs(ChunkWindow.all(array), 1, 1L << 30).get(0).memoryBytes();
        assertThat(bytes).isBetween(least, least + (1 << 19));
    }

    /** Each without the other's library, too. */
    @ParameterizedTest
    @CsvSource({"bz2, commons-compress, org.apache.commons:commons-compress", "lzma, xz, org.tukaani:xz"})
    void aLibraryThatIsNotOnTheClassPathIsNamed(String id, String jar, String name) throws Exception {
        String classPath = System.getProperty("surefire.test.class.path", System.getProperty("java.class.path"));
        Path none = v2("|u1", 16, "null", "{\"id\":\"" + id + "\"}", BZ2);
        Process process = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-XX:TieredStopAtLevel=1",
                        "-cp",
                        Stream.of(classPath.split(File.pathSeparator))
                                .filter(path -> !path.contains(File.separator + jar + "-"))
                                .collect(Collectors.joining(File.pathSeparator)),
                        WithoutZstdTest.class.getName(),
                        none.toString())
                .redirectErrorStream(true)
                .start();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor()).as(output).isZero();
        assertThat(output)
                .contains("first: java.lang.IllegalArgumentException: array a is compressed by " + id + ", which needs "
                        + name + ", which is not on the class path");
    }

    /** Element by element: all first bytes, all second ones. */
    @Test
    void bytesThatAShuffleHasPutApartAreTogether() throws IOException {
        String filters = "[{\"id\":\"shuffle\",\"elementsize\":4}]";
        assertLoads(v2("<i4", 2, filters, "null", "0105020603070408"), "0102030405060708");
        String codecs = "[{\"name\":\"bytes\",\"configuration\":{\"endian\":\"little\"}},"
                + "{\"name\":\"numcodecs.shuffle\",\"configuration\":{\"elementsize\":4}}]";
        assertLoads(v3("int32", 2, codecs, "0105020603070408"), "0102030405060708");
        assertRefused(
                v2("<i4", 2, "[{\"id\":\"shuffle\",\"elementsize\":3}]", "null", "0105020603070408"),
                "shuffle: 8 bytes are not whole elements of 3");
    }

    /** Sums wrap as NumPy's do, in either byte order, also of differences that are stored in fewer bytes. */
    @ParameterizedTest
    @CsvSource({
        "<i4, <i4, 05000000ffffffff03000000, 050000000400000007000000",
        ">i2, >i2, 00057fff7fff, 000580040003",
        "<i4, |i1, 05ff03, 050000000400000007000000",
        "<u2, |u1, 05ff03, 050004010701",
        "<f4, <f4, 0000803f000000c00000003f, 0000803f000080bf000000bf",
        "<f8, <f8, 000000000000f03f000000000000e0bf000000000000e03f, 000000000000f03f000000000000e03f000000000000f03f",
    })
    void differencesAreSummedUp(String type, String differences, String chunk, String hex) throws IOException {
        String filter = "[{\"id\":\"delta\",\"dtype\":\"%s\",\"astype\":\"%s\"}]".formatted(type, differences);
        assertLoads(v2(type, 3, filter, "null", chunk), hex);
    }

    @Test
    void differencesOfVersion3HaveTheByteOrderOfTheirBytes() throws IOException {
        String codecs = "[{\"name\":\"numcodecs.delta\",\"configuration\":{\"dtype\":\"<i2\"}},"
                + "{\"name\":\"numcodecs.bitround\",\"configuration\":{\"keepbits\":3}},"
                + "{\"name\":\"bytes\",\"configuration\":{\"endian\":\"big\"}}]";
        assertLoads(v3("int16", 3, codecs, "00057fff7fff"), "000580040003");
        assertRefused(v3("int32", 3, codecs, "00"), "codec numcodecs.delta is not supported");
    }

    /** What rounded the elements has left them as they are. */
    @Test
    void whatIsNotUndoneIsPassedOver() throws IOException {
        String filters = "[{\"id\":\"bitround\",\"keepbits\":3},{\"id\":\"quantize\",\"digits\":1,\"dtype\":\"<f4\"}]";
        assertLoads(v2("<f4", 1, filters, "null", "0000803f"), "0000803f");
    }

    /** Types of NumPy have names of their own in version 3, as zarr-python 3 writes them. */
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '~',
            value = {
                "{\"name\":\"fixed_length_utf32\",\"configuration\":{\"length_bytes\":8}}|U2|4100000042000000|\"\"",
                "{\"name\":\"null_terminated_bytes\",\"configuration\":{\"length_bytes\":3}}|S3|414200|\"\"",
                "{\"name\":\"raw_bytes\",\"configuration\":{\"length_bytes\":2}}|V2|4142|\"AAA=\"",
                "r16|V2|4142|0",
                "{\"name\":\"numpy.datetime64\",\"configuration\":{\"unit\":\"s\",\"scale_factor\":10}}|DATETIME64[10s]"
                        + "|0100000000000000|\"NaT\"",
                "{\"name\":\"numpy.timedelta64\",\"configuration\":{\"unit\":\"D\",\"scale_factor\":1}}|TIMEDELTA64[D]"
                        + "|0100000000000000|0",
            })
    void aTypeOfNumPyHasItsNameOfVersion3(String type, String expected, String chunk, String fill) throws IOException {
        String endian = expected.matches("[SV].*") ? "" : ",\"configuration\":{\"endian\":\"little\"}";
        Path array = v3("TYPE", 1, "[{\"name\":\"bytes\"" + endian + "}]", chunk);
        String document = Files.readString(array.resolve("zarr.json"));
        String quoted = type.startsWith("{") ? type : "\"" + type + "\"";
        Files.writeString(
                array.resolve("zarr.json"),
                document.replace("\"TYPE\"", quoted).replace("\"fill_value\":0", "\"fill_value\":" + fill));
        try (LoadedArrays loaded = get(Loader.of(backend).load(array))) {
            assertThat(loaded.get("a").type().name()).isEqualTo(expected);
            assertThat(HexFormat.of().formatHex(bytes(loaded.get("a")))).isEqualTo(chunk);
        }
    }

    /** What has no size is described as that. */
    @Test
    void elementsOfAnyLengthAreNotSupported() throws IOException {
        assertRefused(
                v3("string", 3, "[{\"name\":\"vlen-utf8\"}]", "00"),
                "not supported, as a Zarr file: "
                        + folder.resolve("v3/a/zarr.json")
                        + ": elements of any length (string) are not supported, in the shape [3]");
        assertRefused(
                v2("|O", 3, "[{\"id\":\"vlen-utf8\"}]", "null", "00"),
                "elements of any length (vlen-utf8) are not supported, in the shape [3]");
    }

    /** Named before anything is allocated. */
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '~',
            value = {
                "{\"id\":\"fixedscaleoffset\"}|fixedscaleoffset",
                "{\"id\":\"delta\",\"dtype\":\"<i2\",\"astype\":\"<i4\"}|delta (<i2)",
                "{\"id\":\"shuffle\",\"elementsize\":0}|shuffle",
                "{\"id\":\"shuffle:4\"}|'shuffle:4'",
                "{\"id\":\"lzma\",\"format\":3}|lzma (raw)",
                "{\"id\":\"quantize\",\"dtype\":\"<f4\",\"astype\":\"<f2\"}|quantize",
            })
    void whatCannotBeDecodedIsNamed(String filter, String name) throws IOException {
        Path array = v2("<f4", 1, "[" + filter + "]", "null", "0000803f");
        assertThatThrownBy(() -> Loader.of(backend).explain(array).block())
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("array a is encoded by " + name + ", which cannot be decoded");
    }
}
