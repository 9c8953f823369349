// SPDX-License-Identifier: Apache-2.0
package io.penstock.formats;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.Backend;
import io.penstock.Backends;
import io.penstock.formats.read.FormatReader;
import io.penstock.formats.read.SafetensorsIndexReader;
import io.penstock.formats.read.SafetensorsReader;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The rules of safetensors, each with a file that breaks it. */
class SafetensorsReaderTest {

    @TempDir
    Path folder;

    /** Writes a file with that header and {@code data} bytes behind it. */
    private Path file(String header, int data) throws IOException {
        byte[] json = header.getBytes(StandardCharsets.UTF_8);
        return file(json.length, json, data);
    }

    private Path file(long length, byte[] header, int data) throws IOException {
        ByteBuffer bytes = ByteBuffer.allocate(8 + header.length + data).order(ByteOrder.LITTLE_ENDIAN);
        return Files.write(
                folder.resolve("a.safetensors"),
                bytes.putLong(length).put(header).array());
    }

    private static String entry(String name, String type, String shape, long begin, long end) {
        return "\"%s\":{\"dtype\":\"%s\",\"shape\":%s,\"data_offsets\":[%d,%d]}"
                .formatted(name, type, shape, begin, end);
    }

    private void assertRefused(Path file, String complaint) {
        assertThatThrownBy(() -> new SafetensorsReader().read(file, Set.of()))
                .isInstanceOf(MalformedFileException.class)
                .hasMessageStartingWith(file + ": not a valid safetensors file: ")
                .hasMessageContaining(complaint);
    }

    private void assertRefused(String header, int data, String complaint) throws IOException {
        assertRefused(file(header, data), complaint);
    }

    @Test
    void aHeaderWithoutArraysIsAFile() throws IOException {
        assertThat(new SafetensorsReader().read(file("{}", 0), Set.of()).arrays())
                .isEmpty();
        assertThat(new SafetensorsReader().read(file("{}      ", 0), Set.of()).arrays())
                .isEmpty();
    }

    /** As by the reference implementation. */
    @Test
    void metadataMayBeNull() throws IOException {
        String array = entry("a", "I8", "[1]", 0, 1);
        for (String header :
                List.of("{\"__metadata__\":null," + array + "}", "{" + array + ",\"__metadata__\":null}")) {
            ArrayFile read = new SafetensorsReader().read(file(header, 1), Set.of());
            assertThat(read.attributes()).isEmpty();
            assertThat(read.arrays()).extracting(Array::name).containsExactly("a");
        }
    }

    @Test
    void scalarsEmptyArraysAndUnknownMembersAreAllowed() throws IOException {
        String header = "{" + entry("scalar", "F32", "[]", 0, 4) + "," + entry("empty", "F32", "[3,0]", 4, 4) + ","
                + "\"other\":{\"dtype\":\"I8\",\"shape\":[1],\"data_offsets\":[4,5],\"extra\":{\"a\":[1]}}}";
        assertThat(new SafetensorsReader().read(file(header, 5), Set.of()).arrays())
                .extracting(Array::name)
                .containsExactlyInAnyOrder("scalar", "empty", "other");
    }

    /** NIfTI has no magic number at its start, but a length of 348 or 540 bytes. */
    @ParameterizedTest
    @ValueSource(ints = {348, 540})
    void aHeaderMayBeAsLongAsThatOfAnotherFormat(int length) throws IOException {
        String header = "{" + entry("a", "U8", "[5]", 0, 5) + "}";
        Path file = file(header + " ".repeat(length - header.length()), 600);
        assertThat(FormatReader.of(file)).isInstanceOf(SafetensorsReader.class);
        Path unnamed = Files.copy(file, folder.resolve("a"));
        assertThat(FormatReader.of(unnamed)).isInstanceOf(SafetensorsReader.class);
    }

    @Test
    void arraysOfLessThanAByteTakeWholeBytesTogether() throws IOException {
        String header = "{" + entry("four", "F4", "[3,2]", 0, 3) + "," + entry("six", "F6_E2M3", "[8]", 3, 9) + "}";
        List<Array> arrays =
                new SafetensorsReader().read(file(header, 9), Set.of()).arrays();
        assertThat(arrays).extracting(Array::elements).containsExactly(6L, 8L);
        assertRefused("{" + entry("four", "F4", "[3]", 0, 2) + "}", 2, "not whole blocks");
        assertRefused("{" + entry("six", "F6_E3M2", "[2]", 0, 2) + "}", 2, "not whole blocks");
    }

    @Test
    void theLengthOfTheHeaderIsCheckedBeforeItIsRead() throws IOException {
        assertRefused(Files.write(folder.resolve("a.safetensors"), new byte[7]), "the file ends after 7");
        assertRefused(file(100_000_001, new byte[0], 0), "must be at most 100000000");
        assertRefused(file(-1, new byte[0], 0), "18446744073709551615");
        assertRefused(file(99_999_999, "{}".getBytes(StandardCharsets.UTF_8), 0), "takes 99999999 bytes");
        assertRefused(file("", 0), "must begin with {");
        assertRefused(file(" {}", 0), "must begin with {");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '~',
            value = {
                "[]|must begin with {",
                "{|Unexpected end",
                "{} {}|more after the end",
                "{\"a\":1}|array a must be an object",
                "{\"a\":{}}|must have dtype, shape and data_offsets",
                "{\"a\":{\"dtype\":5,\"shape\":[],\"data_offsets\":[0,0]}}|dtype of array a must be a string",
                "{\"a\":{\"dtype\":\"I8\",\"shape\":7,\"data_offsets\":[0,0]}}|must be an array of numbers",
                "{\"a\":{\"dtype\":\"I8\",\"shape\":[1.5],\"data_offsets\":[0,0]}}|whole numbers",
                "{\"a\":{\"dtype\":\"I8\",\"shape\":[-1],\"data_offsets\":[0,0]}}|negative",
                "{\"a\":{\"dtype\":\"I8\",\"shape\":[0],\"data_offsets\":[0]}}|must be 2 numbers",
                "{\"a\":{\"dtype\":\"I8\",\"shape\":[99999999999999999999],\"data_offsets\":[0,0]}}|no file can hold",
                "{\"__metadata__\":{\"a\":1}}|__metadata__.a must be a string",
                "{\"__metadata__\":{\"a\":null}}|__metadata__.a must be a string",
                "{\"__metadata__\":[]}|__metadata__ must be an object",
                "{\"__metadata__\":{\"a\":\"1\",\"a\":\"2\"}}|Duplicate field 'a'"
            })
    void whatTheHeaderMustBe(String header, String complaint) throws IOException {
        assertRefused(header, 0, complaint);
    }

    @Test
    void noNameIsThereTwice() throws IOException {
        assertRefused(
                "{" + entry("a", "I8", "[1]", 0, 1) + "," + entry("a", "I8", "[1]", 1, 2) + "}",
                2,
                "Duplicate field 'a'");
    }

    @Test
    void theArraysFillTheDataWithoutGapAndOverlap() throws IOException {
        assertRefused("{" + entry("a", "I8", "[1]", 1, 2) + "}", 2, "must start at 0");
        assertRefused(
                "{" + entry("a", "I8", "[2]", 0, 2) + "," + entry("b", "I8", "[2]", 1, 3) + "}", 3, "must start at 2");
        assertRefused("{" + entry("a", "I8", "[2]", 0, 2) + "}", 3, "must end with the last array, at 2");
        assertRefused("{" + entry("a", "I8", "[2]", 0, 2) + "}", 1, "ends at 2 of the data, which has 1");
        assertRefused("{" + entry("a", "I8", "[0]", 0, 0) + "}", 1, "must end with the last array");
    }

    @Test
    void shapeAndTypeAgreeWithTheBytes() throws IOException {
        assertRefused("{" + entry("a", "F32", "[2]", 0, 4) + "}", 4, "takes 8 bytes, had 4");
        assertRefused("{" + entry("a", "F32", "[4611686018427387904,2]", 0, 4) + "}", 4, "overflow");
        assertRefused("{" + entry("a", "F32", "[4611686018427387904]", 0, 4) + "}", 4, "overflow");
    }

    @Test
    void theHeaderIsUtf8() throws IOException {
        byte[] header = "{\"a?\":{}}".getBytes(StandardCharsets.UTF_8);
        header[3] = (byte) 0xff;
        assertRefused(file(header.length, header, 0), "not valid UTF-8");
        byte[] wide = "{}".getBytes(StandardCharsets.UTF_16LE);
        assertRefused(file(wide.length, wide, 0), "");
    }

    @Test
    void aDeepHeaderIsRefused() throws IOException {
        String deep = "{\"a\":{\"x\":" + "[".repeat(100_000) + "]".repeat(100_000) + "}}";
        assertRefused(deep, 0, "nesting depth");
    }

    /** Row 11 of public reports: one new type hid all others. */
    @Test
    void anArrayOfAnUnknownTypeLeavesTheOthersReadable() throws IOException {
        String header = "{" + entry("a", "F32", "[1]", 0, 4) + "," + entry("c", "I4", "[8]", 4, 8) + ","
                + entry("b", "F32", "[1]", 8, 12) + "}";
        Path path = file(header, 12);
        ArrayFile read = new SafetensorsReader().read(path, Set.of());
        assertThat(read.arrays()).extracting(Array::name).containsExactly("a", "b");
        assertThat(read.arrays().get(1).data()).isEqualTo(new Extent(path, 8 + header.length() + 8, 4));
        String reason = "not supported: the dtype I4, of shape [8] in 4 bytes";
        assertThat(read.leftOut()).containsExactly(Map.entry("c", reason));
        try (Backend host = Backends.open("host")) {
            Loader loader = Loader.of(host);
            for (Loader all : List.of(loader, loader.arrays("*"))) {
                LoadPlan plan = all.explain(read);
                assertThat(plan.arrays()).hasSize(2);
                assertThat(plan.leftOut()).containsExactly(Map.entry("c", reason));
            }
            assertThat(loader.arrays("a").explain(read).leftOut()).isEmpty();
            for (String wanted : List.of("c", "?")) {
                assertThatThrownBy(() -> loader.arrays("a", wanted).explain(read))
                        .isInstanceOf(IllegalArgumentException.class)
                        .hasMessage("array c of " + path + " cannot be read: " + reason);
            }
            Path only = file("{" + entry("c", "I4", "[8]", 0, 4) + "}", 4);
            assertThatThrownBy(() -> loader.explain(new SafetensorsReader().read(only, Set.of())))
                    .hasMessage("array c of " + path + " cannot be read: " + reason);
        }
    }

    @Test
    void whatIsPermittedIsNamedWhereItIsRefused() throws IOException {
        String header = "{" + entry("a", "I8", "[2]", 0, 2) + "}";
        Path trailing = file(header, 18);
        assertRefused(trailing, "must end with the last array, at 2, but has 18 bytes; FormatOption.TRAILING_BYTES");
        ArrayFile read = new SafetensorsReader().read(trailing, Set.of(FormatOption.TRAILING_BYTES));
        assertThat(read.attributes()).containsExactly(Map.entry("trailing bytes", "16"));
        assertThat(read.arrays()).extracting(Array::bytes).containsExactly(2L);
        Path padded = file(header + "\0\0\0", 2);
        assertRefused(padded, "its header ends with 3 NUL, where the format has blanks; FormatOption.NUL_PADDING");
        assertThatThrownBy(() -> new SafetensorsReader().read(padded, Set.of(FormatOption.TRAILING_BYTES)))
                .hasMessageContaining("FormatOption.NUL_PADDING");
        assertThat(Formats.read(padded, FormatOption.NUL_PADDING).block().arrays())
                .extracting(Array::name)
                .containsExactly("a");
        Path index = index("{\"weight_map\":{\"a\":\"a.safetensors\"}}");
        try (Backend host = Backends.open("host")) {
            Loader loader = Loader.of(host);
            assertThatThrownBy(() -> loader.explain(index).block()).hasMessageContaining("NUL_PADDING");
            assertThat(loader.formatOptions(FormatOption.values())
                            .explain(index)
                            .block()
                            .arrays())
                    .hasSize(1);
        }
        assertRefused("{\0}", 0, "CTRL-CHAR, code 0");
    }

    /** Row 13: the name is of an array that was renamed, or removed. */
    @Test
    void aStaleEntryOfAnIndexLeavesTheOthersReadable() throws IOException {
        file("{" + entry("a", "I8", "[1]", 0, 1) + "}", 1);
        Path index = index("{\"weight_map\":{\"a\":\"a.safetensors\",\"z\":\"a.safetensors\"}}");
        ArrayFile read = new SafetensorsIndexReader().read(index, Set.of());
        assertThat(read.arrays()).extracting(Array::name).containsExactly("a");
        assertThat(read.leftOut())
                .containsExactly(Map.entry("z", "not there: the index names a.safetensors, which does not have it"));
    }

    private Path index(String json) throws IOException {
        return Files.writeString(folder.resolve("m.safetensors.index.json"), json);
    }

    private void assertIndexRefused(String json, String complaint) throws IOException {
        Path index = index(json);
        assertThatThrownBy(() -> FormatReader.of(index).read(index, Set.of()))
                .isInstanceOf(MalformedFileException.class)
                .hasMessageContaining(complaint);
    }

    @Test
    void anIndexNamesFilesInItsDirectoryOnly() throws IOException {
        for (String name : List.of("../b.safetensors", "/b.safetensors", "x\\\\b.safetensors", "..", "", "b\\u0000")) {
            assertIndexRefused("{\"weight_map\":{\"a\":\"" + name + "\"}}", "in the same directory");
        }
        assertIndexRefused("{\"weight_map\":{\"a\":{\"file\":\"b.safetensors\"}}}", "must be a string");
        assertIndexRefused("{\"weight_map\":{}}", "names no file");
        assertIndexRefused("{\"metadata\":{}}", "names no file");
        Path index = index("{\"weight_map\":{\"a\":\"none.safetensors\"}}");
        assertThatThrownBy(() -> FormatReader.of(index).read(index, Set.of()))
                .isInstanceOf(NoSuchFileException.class)
                .hasMessage(folder.resolve("none.safetensors") + ": " + index + " names it");
    }

    @Test
    void theMetadataOfAnIndexMayBeNull() throws IOException {
        file("{" + entry("a", "I8", "[1]", 0, 1) + "}", 1);
        Path index = index("{\"metadata\":null,\"weight_map\":{\"a\":\"a.safetensors\"}}");
        assertThat(new SafetensorsIndexReader().read(index, Set.of()).arrays())
                .extracting(Array::name)
                .containsExactly("a");
    }

    @Test
    void theHeadersOfTheShardsRule() throws IOException {
        file("{" + entry("a", "I8", "[1]", 0, 1) + "}", 1);
        assertIndexRefused("{\"weight_map\":{\"b\":\"a.safetensors\"}}", "array b is not in a.safetensors");
        Files.copy(folder.resolve("a.safetensors"), folder.resolve("b.safetensors"));
        String both = "{\"weight_map\":{\"a\":\"a.safetensors\",\"x\":\"b.safetensors\"}}";
        assertIndexRefused(both, "array x is not in b.safetensors");
        Path good = index("{\"metadata\":{\"total_size\":99},\"weight_map\":{\"a\":\"a.safetensors\"}}");
        assertThat(FormatReader.of(good).read(good, Set.of()).arrays())
                .extracting(Array::name)
                .containsExactly("a");
    }
}
