// SPDX-License-Identifier: Apache-2.0
package io.penstock.formats;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.formats.read.GgufReader;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The rules of GGUF, each with a file that breaks it. */
class GgufReaderTest {

    /** Bytes of a GGUF file, one value after the other. */
    private static final class Gguf {

        private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();

        static Gguf of(int version, long arrays, long values) {
            return new Gguf()
                    .raw("GGUF".getBytes(StandardCharsets.US_ASCII))
                    .u32(version)
                    .u64(arrays)
                    .u64(values);
        }

        Gguf raw(byte... raw) {
            bytes.writeBytes(raw);
            return this;
        }

        Gguf u32(long number) {
            return raw(ByteBuffer.allocate(4)
                    .order(ByteOrder.LITTLE_ENDIAN)
                    .putInt((int) number)
                    .array());
        }

        Gguf u64(long number) {
            return raw(ByteBuffer.allocate(8)
                    .order(ByteOrder.LITTLE_ENDIAN)
                    .putLong(number)
                    .array());
        }

        Gguf text(String text) {
            byte[] utf8 = text.getBytes(StandardCharsets.UTF_8);
            return u64(utf8.length).raw(utf8);
        }

        Gguf array(String name, int type, long offset, long... dimensions) {
            text(name).u32(dimensions.length);
            for (long dimension : dimensions) {
                u64(dimension);
            }
            return u32(type).u64(offset);
        }

        Gguf data(int alignment, int length) {
            return raw(new byte[(alignment - bytes.size() % alignment) % alignment + length]);
        }

        Path write(Path file) throws IOException {
            return Files.write(file, bytes.toByteArray());
        }
    }

    @TempDir
    Path folder;

    private ArrayFile read(Gguf file) throws IOException {
        return new GgufReader().read(file.write(folder.resolve("a.gguf")), Set.of());
    }

    private void assertRefused(Gguf file, String complaint) {
        assertThatThrownBy(() -> read(file))
                .isInstanceOf(MalformedFileException.class)
                .hasMessageStartingWith(folder.resolve("a.gguf") + ": not ")
                .hasMessageContaining(complaint);
    }

    @Test
    void bothVersionsAreReadAndDimensionsReversed() throws IOException {
        for (int version = 2; version <= 3; version++) {
            Gguf file = Gguf.of(version, 2, 0)
                    .array("b", 0, 32, 2, 3)
                    .array("a", 8, 64, 32, 2)
                    .data(32, 64 + 68);
            List<Array> arrays = read(file).arrays();
            assertThat(arrays).extracting(Array::shape).containsExactly(List.of(3L, 2L), List.of(2L, 32L));
            assertThat(arrays).extracting(Array::bytes).containsExactly(24L, 68L);
        }
    }

    @Test
    void aFileWithoutArraysNeedsNoPadding() throws IOException {
        assertThat(read(Gguf.of(3, 0, 0)).arrays()).isEmpty();
        assertThat(read(Gguf.of(3, 1, 0).array("a", 0, 0, 0).data(32, 0)).bytes())
                .isZero();
    }

    @Test
    void otherVersionsAndByteOrdersAreRefused() {
        assertRefused(Gguf.of(1, 0, 0), "version 1 is not supported");
        assertRefused(Gguf.of(4, 0, 0), "version 4 is not supported");
        assertRefused(Gguf.of(3 << 24, 0, 0), "big-endian");
        assertRefused(new Gguf().raw("GGUX".getBytes(StandardCharsets.US_ASCII)), "must begin with GGUF");
        assertRefused(new Gguf().raw((byte) 'G'), "the magic number at byte 0 takes 4 bytes");
    }

    @Test
    void countsAreHeldAgainstTheFileBeforeAnythingIsAllocated() {
        assertRefused(Gguf.of(3, 1L << 40, 0), "descriptions of arrays: 1099511627776");
        assertRefused(Gguf.of(3, 0, 1L << 40), "metadata values: 1099511627776");
        assertRefused(Gguf.of(3, -1, 0), "18446744073709551615");
        assertRefused(Gguf.of(3, 0, 1).u64(60_000).u32(0).u32(0), "takes 60000 bytes");
        assertRefused(Gguf.of(3, 0, 1).u64(70_000).u32(0).u32(0), "more than 65535");
        assertRefused(Gguf.of(3, 0, 1).text("key").u32(8).u64(1L << 50), "key: 1125899906842624 of at least 1 bytes");
        assertRefused(Gguf.of(3, 0, 1).text("key").u32(9).u32(10).u64(1L << 60), "elements of key");
        assertRefused(Gguf.of(3, 0, 1).text("key").u32(9).u32(8).u64(1L << 60), "elements of key");
    }

    @Test
    void valuesHaveAKnownTypeAndOneKey() {
        assertRefused(Gguf.of(3, 0, 1).text("").u32(4).u32(0), "must have at least 1 byte");
        assertRefused(Gguf.of(3, 0, 1).text("key").u32(13).u64(0), "key has the unknown type 13");
        assertRefused(Gguf.of(3, 0, 1).text("key").u32(9).u32(99).u64(0), "elements of the unknown type 99");
        assertRefused(Gguf.of(3, 0, 1).text("key").u32(7).raw((byte) 2), "must be 0 or 1");
        assertRefused(
                Gguf.of(3, 0, 2).text("key").u32(4).u32(1).text("key").u32(4).u32(2), "has the key key twice");
        Gguf deep = Gguf.of(3, 0, 1).text("key").u32(9);
        for (int i = 0; i < 20; i++) {
            deep.u32(9).u64(1);
        }
        assertRefused(deep.u32(0).u64(1).raw((byte) 1), "more than 8 deep");
    }

    @Test
    void arraysOfArraysAreShownAndSkipped() throws IOException {
        Gguf file = Gguf.of(3, 0, 2).text("key").u32(9).u32(9).u64(20);
        for (int i = 0; i < 20; i++) {
            file.u32(8).u64(2).text("x" + i).text("y");
        }
        ArrayFile read = read(file.text("next").u32(4).u32(7));
        assertThat(read.attributes()).containsEntry("next", "7");
        assertThat(read.attributes().get("key")).startsWith("[[x0, y], [x1, y]").endsWith("... (20 elements)]");
    }

    @Test
    void aLongTextIsAbbreviated() throws IOException {
        ArrayFile read = read(Gguf.of(3, 0, 2)
                .text("key")
                .u32(8)
                .text("t".repeat(70_000))
                .text("n")
                .u32(0)
                .raw((byte) 200));
        String text = read.attributes().get("key");
        assertThat(text.length()).isEqualTo(65_536 + "... (70000 bytes)".length());
        assertThat(text.substring(65_535)).isEqualTo("t... (70000 bytes)");
        assertThat(read.attributes()).containsEntry("n", "200");
    }

    @Test
    void theAlignmentIsAMultipleOfEight() throws IOException {
        for (int alignment : new int[] {0, 4, 33}) {
            assertRefused(
                    Gguf.of(3, 0, 1).text("general.alignment").u32(4).u32(alignment),
                    "must be a UINT32, a multiple of 8");
        }
        assertRefused(Gguf.of(3, 0, 1).text("general.alignment").u32(10).u64(32), "must be a UINT32");
        Gguf aligned = Gguf.of(3, 2, 1).text("general.alignment").u32(4).u32(64);
        aligned.array("a", 24, 0, 1).array("b", 24, 64, 1).data(64, 65);
        assertThat(read(aligned).arrays()).hasSize(2);
        assertRefused(Gguf.of(3, 1, 0).array("a", 24, 8, 1).data(32, 64), "no multiple of the alignment 32");
    }

    @Test
    void arraysLieWithinTheDataAndApart() {
        assertRefused(Gguf.of(3, 1, 0).array("a", 0, 0, 9).data(32, 35), "past its end");
        assertRefused(Gguf.of(3, 2, 0).array("a", 0, 0, 16).array("b", 0, 32, 1).data(32, 96), "within another array");
        assertRefused(Gguf.of(3, 1, 0).array("a", 0, 1L << 62, 1).data(32, 8), "past its end");
        assertRefused(Gguf.of(3, 1, 0).array("a", 0, Long.MAX_VALUE - 31, 1).data(32, 8), "end within a long");
        assertRefused(
                Gguf.of(3, 2, 0).array("a", 24, 0, 1).array("a", 24, 32, 1).data(32, 33), "two arrays have the name a");
    }

    @Test
    void shapesAreOfWholeBlocksAndOfFewDimensions() {
        assertRefused(Gguf.of(3, 1, 0).array("a", 2, 0, 16, 2).data(32, 18), "not whole blocks of 32");
        assertRefused(Gguf.of(3, 1, 0).array("a", 0, 0, 1, 1, 1, 1, 1).data(32, 4), "5 dimensions, more than 4");
        assertRefused(Gguf.of(3, 1, 0).array("a", 0, 0, 1L << 40, 1L << 40).data(32, 4), "overflow");
        assertRefused(Gguf.of(3, 1, 0).array("a", 0, 0, -1).data(32, 4), "18446744073709551615");
        assertRefused(Gguf.of(3, 1, 0).array("a".repeat(129), 0, 0, 1).data(32, 4), "129 bytes, more than 128");
    }

    @Test
    void anArrayOfAnUnknownTypeIsItsBytes() throws IOException {
        Gguf file = Gguf.of(3, 2, 0)
                .array("new", 99, 0, 32, 2)
                .array("known", 24, 64, 3)
                .data(32, 67);
        ArrayFile read = read(file);
        Array unknown = read.array("new").orElseThrow();
        assertThat(unknown.type().name()).isEqualTo("GGML_99");
        assertThat(unknown.shape()).containsExactly(64L);
        assertThat(read.attributes()).containsEntry("new.shape", "[2, 32]");
        assertThat(read.array("known").orElseThrow().bytes()).isEqualTo(3);
    }

    @Test
    void aMissingPartIsMissed() throws IOException {
        Path part = Gguf.of(3, 0, 0).write(folder.resolve("m-00001-of-00002.gguf"));
        assertThatThrownBy(() -> new GgufReader().read(part, Set.of()))
                .isInstanceOf(NoSuchFileException.class)
                .hasMessage(folder.resolve("m-00002-of-00002.gguf") + ": it is a part of the model of " + part);
        assertThatThrownBy(() -> new GgufReader().read(folder.resolve("n-00001-of-00002.gguf"), Set.of()))
                .isInstanceOf(NoSuchFileException.class)
                .hasMessage(folder.resolve("n-00001-of-00002.gguf").toString());
        Path third = Gguf.of(3, 0, 0).write(folder.resolve("m-00003-of-00002.gguf"));
        assertThatThrownBy(() -> new GgufReader().read(third, Set.of())).hasMessageContaining("does not number a part");
        Path none = Gguf.of(3, 0, 0).write(folder.resolve("m-00000-of-00002.gguf"));
        assertThatThrownBy(() -> new GgufReader().read(none, Set.of())).hasMessageContaining("does not number a part");
        Gguf.of(3, 0, 1)
                .text("split.count")
                .u32(2)
                .raw((byte) 3, (byte) 0)
                .write(folder.resolve("m-00002-of-00002.gguf"));
        assertThatThrownBy(() -> new GgufReader().read(part, Set.of())).hasMessageContaining("split.count is 3");
    }

    /** Where digits are not ASCII's, as in Egypt, the names of files have ASCII's digits all the same. */
    @Test
    void theNamesOfPartsDoNotDependOnTheLocale() throws IOException {
        Path part = Gguf.of(3, 0, 0).write(folder.resolve("m-00001-of-00002.gguf"));
        Gguf.of(3, 0, 0).write(folder.resolve("m-00002-of-00002.gguf"));
        Locale before = Locale.getDefault();
        Locale.setDefault(Locale.forLanguageTag("ar-EG"));
        try {
            assertThat("%d".formatted(1)).isNotEqualTo("1"); // otherwise this locale would prove nothing
            assertThat(new GgufReader().read(part, Set.of()).arrays()).isEmpty();
        } finally {
            Locale.setDefault(before);
        }
    }
}
