// SPDX-License-Identifier: Apache-2.0
package io.penstock.formats;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.penstock.Backend;
import io.penstock.Backends;
import io.penstock.formats.load.Assembly;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A complaint is one line of bounded length, with the file and the place, and in words of the format. */
class ComplaintTest {

    private static final String LONG = "k\n\u001b[31m\u202e" + "x".repeat(60_000);

    @TempDir
    Path folder;

    private String complaint(Path path) {
        Throwable refused = catchThrowable(() -> Formats.read(path).block());
        assertThat(refused).isInstanceOf(MalformedFileException.class);
        String message = refused.getMessage();
        assertPlain(message);
        return message;
    }

    private static void assertPlain(String message) {
        assertThat(message).hasSizeLessThan(1000).doesNotContainPattern("[\\p{Cntrl}\u202e]");
    }

    private Path safetensors(String json, int data) throws IOException {
        byte[] header = json.getBytes(StandardCharsets.UTF_8);
        return Files.write(
                folder.resolve("a.safetensors"),
                ByteBuffer.allocate(8 + header.length + data)
                        .order(ByteOrder.LITTLE_ENDIAN)
                        .putLong(header.length)
                        .put(header)
                        .array());
    }

    private static String array(String name) {
        return "\"" + name + "\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1]}";
    }

    @Test
    void aLongKeyIsCutAndItsControlCharactersAreEscaped() throws IOException {
        byte[] key = LONG.getBytes(StandardCharsets.UTF_8);
        ByteBuffer bytes = ByteBuffer.allocate(64 + key.length).order(ByteOrder.LITTLE_ENDIAN);
        bytes.putInt(0x46554747).putInt(3).putLong(0).putLong(1);
        bytes.putLong(key.length).put(key).putInt(99);
        assertThat(complaint(Files.write(folder.resolve("a.gguf"), bytes.array())))
                .contains("a.gguf: not a valid GGUF file: k\\n\\u001b[31m\\u202exxx", "...")
                .endsWith("xxx has the unknown type 99");
    }

    @Test
    void aLongNameIsCutWhereverItIsComplainedOf() throws IOException {
        String escaped = LONG.substring(0, 40_000).replace("\n", "\\n").replace("\u001b", "\\u001b");
        assertThat(complaint(safetensors("{" + array(escaped) + "," + array(escaped) + "}", 2)))
                .contains("Duplicate field 'k\\n");
        Path one = safetensors("{" + array(escaped) + "}", 1);
        Path two = Files.copy(one, folder.resolve("b.safetensors"));
        try (Backend host = Backends.open("host")) {
            assertPlain(catchThrowable(() -> Loader.of(host).explain(one, two).block())
                    .getMessage());
            Loader halves = Loader.of(host).slice(Slice.rows(0, 2));
            assertThat(halves.explain(one).block()).isNotNull();
            Array odd = new Array(
                    LONG,
                    new ElementType("Q4_0", 32, 18),
                    List.of(1L, 32L),
                    ByteOrder.BIG_ENDIAN,
                    Array.Order.ROW_MAJOR,
                    new Extent(one, 0, 18));
            ArrayFile file = new ArrayFile(one, "any", Map.of(), List.of(odd));
            assertPlain(catchThrowable(() -> Loader.of(host).littleEndian().explain(file))
                    .getMessage());
            ArrayFile told = new ArrayFile(one, "any", Map.of("odd", LONG), List.of(odd));
            assertPlain(catchThrowable(() -> Loader.of(host).arrays("odd").explain(told))
                    .getMessage());
        }
    }

    /** What is said of JSON has no words of its parser. */
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '~',
            value = {
                "{\"a\":|Unexpected end-of-input",
                "{\"a\" 1}|was expecting a colon",
                "{\"a\":{\"x\":DEEP}}|nesting depth (1001) exceeds the maximum allowed (1000)",
                "{\"a\":{\"x\":1LONG}}|exceeds the maximum allowed",
                "{\"\u00ff\":1}|not valid UTF-8 (at byte 2 of it)"
            })
    void whatIsWrongWithJsonIsSaidWithoutItsParser(String json, String complaint) throws IOException {
        byte[] header = json.replace("DEEP", "[".repeat(2000) + "]".repeat(2000))
                .replace("LONG", "0".repeat(2000))
                .getBytes(StandardCharsets.ISO_8859_1);
        ByteBuffer bytes = ByteBuffer.allocate(8 + header.length).order(ByteOrder.LITTLE_ENDIAN);
        Path file = Files.write(
                folder.resolve("a.safetensors"),
                bytes.putLong(header.length).put(header).array());
        assertThat(complaint(file))
                .contains(complaint)
                .doesNotContain("Stream", "Source", "com.fasterxml", "java.", "Input length", "`");
    }

    @Test
    void whyAnArrayIsLeftOutIsShortToo() throws IOException {
        String type = "\\n" + "x".repeat(60_000);
        Path path = safetensors("{\"a\":{\"dtype\":\"%s\",\"shape\":[1],\"data_offsets\":[0,1]}}".formatted(type), 1);
        assertPlain(Formats.read(path).block().leftOut().get("a"));
    }

    /** More memory of the host than there may be is not recommended. */
    @Test
    void noAdviceLeadsBeyondAMaximum() throws IOException {
        Path file = folder.resolve("chunk");
        long stored = Integer.MAX_VALUE;
        Array.ChunkData chunk = new Array.ChunkData(List.of(0L), new Extent(file, 0, stored), List.of("zlib"));
        Array array = new Array(
                "a",
                ElementType.U8,
                List.of(1L << 30),
                ByteOrder.LITTLE_ENDIAN,
                Array.Order.ROW_MAJOR,
                new Array.Data.Chunked(List.of(1L << 30), List.of(), List.of(chunk), List.of()));
        Throwable refused = catchThrowable(() -> Assembly.check(ChunkWindow.all(array), Assembly.MOST_HOST_BYTES));
        assertThat(refused.getMessage())
                .contains("has a chunk of 2147483647 bytes in its file, more than the 2147483639")
                .doesNotContain("host-memory");
    }
}
