// SPDX-License-Identifier: Apache-2.0
package io.penstock.formats;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.formats.read.FormatReader;
import io.penstock.formats.read.GgufReader;
import io.penstock.formats.read.SafetensorsIndexReader;
import io.penstock.formats.read.SafetensorsReader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;
import java.util.zip.CRC32;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Compares what the readers find in files of other libraries with what these libraries find in them. */
class RealFilesTest {

    private static ArrayFile read(String name) {
        return Objects.requireNonNull(Formats.read(Real.file(name)).block());
    }

    /** Returns the lines of expected.txt, sorted, without the name of the file. */
    private static List<String> expected(String files) throws IOException {
        return Real.expected().stream()
                .filter(line -> line.startsWith(files))
                .map(line -> line.substring(line.indexOf(' ') + 1))
                .sorted()
                .toList();
    }

    private static List<String> found(ArrayFile file) throws IOException {
        List<String> lines = new ArrayList<>();
        for (Array array : file.arrays()) {
            CRC32 crc = new CRC32();
            crc.update(Real.bytes(array));
            lines.add("%s %s %s %d %08x"
                    .formatted(array.name(), array.type(), array.shape(), array.bytes(), crc.getValue()));
        }
        return lines.stream().sorted().toList();
    }

    @ParameterizedTest
    @ValueSource(strings = {"model.safetensors", "small.safetensors", "model.gguf", "aligned.gguf"})
    void everyArrayIsWhatItsOwnLibraryFinds(String name) throws IOException {
        assertThat(found(read(name))).isEqualTo(expected(name)).isNotEmpty();
    }

    @Test
    void theShardsOfAnIndexAreOneModel() throws IOException {
        ArrayFile model = read("sharded.safetensors.index.json");
        assertThat(found(model)).isEqualTo(expected("sharded-")).hasSize(6);
        assertThat(model.attributes()).containsEntry("total_size", "1728");
        assertThat(model.format()).isEqualTo("safetensors");
    }

    @Test
    void anyPartOfAModelInPartsIsTheWholeModel() throws IOException {
        for (int part = 1; part <= 3; part++) {
            ArrayFile model = read("parts-0000" + part + "-of-00003.gguf");
            assertThat(found(model)).isEqualTo(expected("parts-")).hasSize(9);
            assertThat(model.attributes()).containsEntry("split.count", "3");
        }
    }

    @Test
    void theFormatIsRecognizedWithoutTheName() throws IOException {
        for (String name : List.of("model.gguf", "model.safetensors")) {
            byte[] start = new byte[FormatReader.START_BYTES];
            try (var in = Files.newInputStream(Real.file(name))) {
                assertThat(in.readNBytes(start, 0, start.length)).isEqualTo(start.length);
            }
            assertThat(Stream.of(new GgufReader(), new SafetensorsIndexReader(), new SafetensorsReader())
                            .filter(reader -> reader.recognizes(Path.of("blob"), start)))
                    .as(name)
                    .hasSize(1);
        }
    }

    @Test
    void metadataAreAttributes() {
        assertThat(read("model.safetensors").attributes())
                .containsEntry("format", "np")
                .containsEntry("note", "h\u00f6\u20ac \"quoted\"");
        assertThat(read("model.gguf").attributes())
                .containsEntry("general.architecture", "llama")
                .containsEntry("test.f32", "0.5")
                .containsEntry("test.f64", "-0.25")
                .containsEntry("test.bool", "true")
                .containsEntry("test.i8", "-1")
                .containsEntry("test.u16", "65535")
                .containsEntry("test.i64", "-4611686018427387904")
                .containsEntry("test.u64", "18446744073709551615")
                .containsEntry("test.text", "gr\u00fcn\n")
                .hasEntrySatisfying(
                        "test.ints",
                        text -> assertThat(text).startsWith("[0, 1, 2").endsWith("15, ... (40 elements)]"))
                .hasEntrySatisfying(
                        "tokenizer.ggml.tokens",
                        text -> assertThat(text).startsWith("[<0>, <1>").endsWith("<15>, ... (30 elements)]"));
    }

    @Test
    void theAlignmentOfGgufIsKept() {
        assertThat(read("aligned.gguf").attributes()).containsEntry("general.alignment", "64");
        for (Array array : read("aligned.gguf").arrays()) {
            assertThat(((Extent) array.data()).offset() % 64).isZero();
        }
    }

    @Test
    void arraysComeInTheOrderOfTheFile() {
        long end = 0;
        for (Array array : read("model.safetensors").arrays()) {
            Extent extent = (Extent) array.data();
            assertThat(extent.offset()).isGreaterThanOrEqualTo(end);
            end = extent.end();
        }
    }
}
