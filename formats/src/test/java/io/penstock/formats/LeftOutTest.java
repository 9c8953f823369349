// SPDX-License-Identifier: Apache-2.0
package io.penstock.formats;

import static io.penstock.formats.LoaderTest.get;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.Backend;
import io.penstock.Backends;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.Map;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Arrays that a file should have and that cannot be read: a load is never incomplete without a word. */
class LeftOutTest {

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

    /** Files of which {@code a} can be read and {@code z} cannot. */
    private Path damaged(String kind) throws IOException {
        Path zarr = folder.resolve("m.zarr");
        return switch (kind) {
            case "index" -> {
                SafetensorsFile.write(folder.resolve("a.safetensors"), List.of(SafetensorsFile.bytes("a", 4)));
                yield Files.writeString(
                        folder.resolve("m.safetensors.index.json"),
                        "{\"weight_map\":{\"a\":\"a.safetensors\",\"z\":\"a.safetensors\"}}");
            }
            case "member" -> {
                Path path = folder.resolve("m.npz");
                try (ZipOutputStream zip = new ZipOutputStream(Files.newOutputStream(path))) {
                    zip.putNextEntry(new ZipEntry("a.npy"));
                    zip.write(Files.readAllBytes(Real.file("c.npy")));
                    zip.putNextEntry(new ZipEntry("z.npy"));
                    zip.write(new byte[128]);
                }
                yield path;
            }
            default -> {
                MutatedChunksTest.copied(Real.file("zarr/v3.zarr/permuted"), zarr.resolve("a"));
                MutatedChunksTest.copied(Real.file("zarr/v3.zarr/permuted"), zarr.resolve("z"));
                Files.writeString(zarr.resolve("zarr.json"), "{\"zarr_format\":3,\"node_type\":\"group\"}");
                Path document = zarr.resolve("z/zarr.json");
                Files.writeString(
                        document,
                        kind.equals("array")
                                ? Files.readString(document).replace("\"shape\"", "\"shade\"")
                                : kind.equals("cut") ? "{" : "{\"zarr_format\":3,\"node_type\":\"graph\"}");
                yield zarr;
            }
        };
    }

    @ParameterizedTest
    @ValueSource(strings = {"index", "member", "array", "cut", "node"})
    void aDamagedArrayIsAnErrorWhereItIsWanted(String kind) throws IOException {
        Path path = damaged(kind);
        ArrayFile file = get(Formats.read(path));
        assertThat(file.arrays()).extracting(Array::name).containsExactly("a");
        assertThat(file.leftOut()).containsOnlyKeys("z");
        String complaint = "array z cannot be read: ";
        Loader all = Loader.of(backend);
        for (Loader loader : new Loader[] {all, all.arrays("*"), all.arrays("z"), all.arrays("?")}) {
            assertThatThrownBy(() -> loader.load(path).block())
                    .isInstanceOf(MalformedFileException.class)
                    .hasMessageStartingWith(path + ": not a valid " + file.format() + " file: " + complaint);
            assertThatThrownBy(() -> loader.load(file).block()).isInstanceOf(MalformedFileException.class);
        }
        assertThatThrownBy(() -> all.explain(path).block())
                .hasMessageContaining(
                        "; FormatOption.DAMAGED_ARRAYS of Loader.formatOptions, or --lenient, leaves it out");
        assertThatThrownBy(() -> Formats.arrays(path).collectList().block())
                .isInstanceOf(MalformedFileException.class)
                .hasMessageContaining(complaint);
        try (LoadedArrays loaded = get(all.arrays("a").load(path))) {
            assertThat(loaded.leftOut()).isEmpty();
        }
        Loader lenient = all.formatOptions(FormatOption.DAMAGED_ARRAYS);
        try (LoadedArrays loaded = get(lenient.load(path))) {
            assertThat(loaded.arrays()).extracting(DeviceArray::name).containsExactly("a");
            assertThat(loaded.leftOut()).isEqualTo(file.leftOut());
        }
        assertThatThrownBy(() -> lenient.arrays("z").explain(file))
                .isInstanceOf(MalformedFileException.class)
                .hasMessageContaining(complaint);
    }

    @Test
    void whatIsNotSupportedIsLeftOutAndNamedInOneWarning() throws IOException {
        Path path = folder.resolve("m.safetensors");
        String header = "{\"a\":{\"dtype\":\"I8\",\"shape\":[1],\"data_offsets\":[0,1]},"
                + "\"y\\n\":{\"dtype\":\"I7\",\"shape\":[1],\"data_offsets\":[1,2]},"
                + "\"z\":{\"dtype\":\"I7\",\"shape\":[1],\"data_offsets\":[2,3]}}";
        byte[] start = {(byte) header.length(), 0, 0, 0, 0, 0, 0, 0};
        Files.write(path, start);
        Files.writeString(path, header + "123", StandardOpenOption.APPEND);
        String reason = "not supported: the dtype I7, of shape [1] in 1 bytes";
        ByteArrayOutputStream log = new ByteArrayOutputStream();
        PrintStream before = System.err;
        System.setErr(new PrintStream(log, true, StandardCharsets.UTF_8));
        try (LoadedArrays loaded = get(Loader.of(backend).load(path));
                LoadedArrays named = get(Loader.of(backend).arrays("a").load(path))) {
            assertThat(loaded.leftOut()).isEqualTo(Map.of("y\n", reason, "z", reason));
            assertThat(named.leftOut()).isEmpty();
        } finally {
            System.setErr(before);
        }
        assertThat(log.toString(StandardCharsets.UTF_8)
                        .lines()
                        .filter(line -> line.contains("WARN io.penstock.formats.Load")))
                .singleElement()
                .asString()
                .endsWith("a load leaves out what cannot be read: y\\n, z; the first: " + reason);
    }
}
