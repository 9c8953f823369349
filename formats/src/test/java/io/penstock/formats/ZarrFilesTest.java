// SPDX-License-Identifier: Apache-2.0
package io.penstock.formats;

import static io.penstock.formats.LoaderTest.bytes;
import static io.penstock.formats.LoaderTest.get;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.Backend;
import io.penstock.Backends;
import io.penstock.TransientStorageException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.stream.Stream;
import java.util.zip.CRC32;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Zarr of three other implementations, loaded, and compared with what these implementations read. */
class ZarrFilesTest {

    private static final Map<String, String> TYPES = Map.ofEntries(
            Map.entry("bool", "BOOL"),
            Map.entry("int8", "I8"),
            Map.entry("int16", "I16"),
            Map.entry("uint16", "U16"),
            Map.entry("int32", "I32"),
            Map.entry("int64", "I64"),
            Map.entry("uint64", "U64"),
            Map.entry("float32", "F32"),
            Map.entry("float64", "F64"),
            Map.entry("complex64", "C64"));

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

    private static Array array(String path) {
        int slash = path.indexOf('/');
        return read(Real.file("zarr/" + path.substring(0, slash)))
                .array(path.substring(slash + 1))
                .orElseThrow();
    }

    /** Lines of path, type, shape, bytes and CRC-32, of those arrays that can be loaded. */
    static Stream<String> expected() throws IOException {
        return Files.readAllLines(Real.file("zarr/expected.txt")).stream();
    }

    /** Returns a box's elements in row-major order and little-endian, whatever their order is. */
    private static byte[] rowMajor(DeviceArray array) {
        byte[] bytes = bytes(array);
        if (array.order() == Array.Order.ROW_MAJOR) {
            return bytes;
        }
        int size = array.type().blockBytes();
        int rank = array.shape().size();
        ByteBuffer rows = ByteBuffer.allocate(bytes.length);
        for (int i = 0; i < bytes.length / size; i++) {
            long rest = i;
            long at = 0;
            long[] index = new long[rank];
            for (int d = rank - 1; d >= 0; d--) {
                index[d] = rest % array.shape().get(d);
                rest /= array.shape().get(d);
            }
            for (int d = rank - 1; d >= 0; d--) {
                at = at * array.shape().get(d) + index[d];
            }
            rows.put(bytes, (int) at * size, size);
        }
        return rows.array();
    }

    private static ArrayFile only(Array array) {
        return new ArrayFile(Path.of("one"), "Zarr", Map.of(), List.of(array));
    }

    @ParameterizedTest
    @MethodSource("expected")
    void anArrayIsLoadedAsOthersReadIt(String line) {
        String[] expected = line.split(" ", -1);
        Array array = array(expected[0]);
        try (LoadedArrays loaded = get(Loader.of(backend).littleEndian().load(only(array)))) {
            DeviceArray found = loaded.get(array.name());
            CRC32 crc = new CRC32();
            crc.update(rowMajor(found));
            assertThat(List.of(
                            found.type().name(),
                            found.shape().toString().replace(" ", ""),
                            String.valueOf(found.bytes()),
                            "%08x".formatted(crc.getValue())))
                    .containsExactly(TYPES.get(expected[1]), expected[2], expected[3], expected[4]);
            assertThat(found.byteOrder()).isEqualTo(ByteOrder.LITTLE_ENDIAN);
        }
    }

    @ParameterizedTest
    @MethodSource("expected")
    void thePartsOfAnArrayAreTheWhole(String line) throws IOException {
        Array array = array(line.substring(0, line.indexOf(' ')));
        byte[] whole;
        try (LoadedArrays loaded = get(Loader.of(backend).load(only(array)))) {
            whole = rowMajor(loaded.get(array.name()));
        }
        ByteBuffer joined = ByteBuffer.allocate(whole.length);
        for (int part = 0; part < 3; part++) {
            try (LoadedArrays loaded =
                    get(Loader.of(backend).slice(Slice.rows(part, 3)).load(only(array)))) {
                joined.put(rowMajor(loaded.get(array.name())));
            }
        }
        assertThat(joined.array()).isEqualTo(whole);
        ByteBuffer columns = ByteBuffer.allocate(whole.length);
        long size = array.shape().get(array.shape().size() - 1);
        int at = 0;
        for (int part = 0; part < 2; part++) {
            try (LoadedArrays loaded =
                    get(Loader.of(backend).slice(Slice.columns(part, 2)).load(only(array)))) {
                DeviceArray found = loaded.get(array.name());
                int width = Math.toIntExact(found.shape().get(found.shape().size() - 1))
                        * array.type().blockBytes();
                byte[] bytes = rowMajor(found);
                int row = Math.toIntExact(size) * array.type().blockBytes();
                for (int i = 0; width > 0 && i < bytes.length / width; i++) {
                    columns.put(at + i * row, bytes, i * width, width);
                }
                at += width;
            }
        }
        assertThat(columns.array()).isEqualTo(whole);
    }

    @Test
    void whatIsNotSupportedIsNamedAndTheRestIsRead() throws IOException {
        MutatedChunksTest.copied(Real.file("zarr/v3.zarr"), folder.resolve("v3"));
        Path document = folder.resolve("v3/plain/zarr.json");
        Files.writeString(document, Files.readString(document).replace("\"regular\"", "\"rectilinear\""));
        ArrayFile group = read(folder.resolve("v3"));
        assertThat(group.leftOut().get("plain"))
                .startsWith("not supported: ")
                .endsWith("chunk_grid rectilinear is not supported");
        assertThat(group.arrays()).extracting(Array::name).contains("permuted").doesNotContain("plain");
        assertThatThrownBy(() -> read(document)).isInstanceOf(MalformedFileException.class);
    }

    @Test
    void dimensionsInAnotherOrderAreNamed() {
        Array array = array("v3.zarr/rotated");
        assertThat(array.order()).isEqualTo(Array.Order.ROW_MAJOR);
        assertThat(((Array.Data.Chunked) array.data()).dimensionOrder()).containsExactly(1, 2, 0);
        assertThat(Loader.of(backend).explain(only(array)).conversions()).containsExactly("assembled", "transpose");
    }

    @ParameterizedTest
    @ValueSource(strings = {"[0, 1, 1]", "[0, 1]", "[0, 1, 3]", "[0, 1, 2, 3]"})
    void anOrderThatIsNoPermutationIsRefused(String order) throws IOException {
        MutatedChunksTest.copied(Real.file("zarr/v3.zarr/permuted"), folder.resolve("a"));
        Path document = folder.resolve("a/zarr.json");
        Files.writeString(document, Files.readString(document).replace("[ 0, 2, 1 ]", order));
        assertThatThrownBy(() -> read(document))
                .isInstanceOf(MalformedFileException.class)
                .hasMessageEndingWith("the order of transpose must have each of 3 dimensions once, was " + order);
    }

    @Test
    void attributesAndLevelsAreNamed() {
        assertThat(read(Real.file("zarr/v2.zarr")).attributes()).containsEntry("title", "a group");
        assertThat(read(Real.file("zarr/v3.zarr/u16")).attributes()).containsEntry("note", "zarrita");
        assertThat(read(Real.file("zarr/v3.zarr")).attributes())
                .containsEntry("image/multiscales", "scan: image/0, image/1 (z, y, x)");
        assertThat(read(Real.file("zarr/v3.zarr/image")).arrays())
                .extracting(Array::name)
                .containsExactly("0", "1");
    }

    @Test
    void aDocumentIsReadAsItsDirectory() {
        ArrayFile file = read(Real.file("zarr/v3.zarr/plain/zarr.json"));
        assertThat(file.format()).isEqualTo("Zarr v3");
        assertThat(file.arrays()).extracting(Array::name).containsExactly("plain");
    }

    @Test
    void chunksThatAreLongEnoughGoStraight() throws IOException {
        Path plain = zarr("[64, 4096]", "[16, 4096]", 16 * 4096 * 2);
        LoadPlan rows = Loader.of(backend).explain(read(plain));
        assertThat(rows.conversions()).isEmpty();
        assertThat(rows.transfers()).isEqualTo(4);
        LoadPlan half = Loader.of(backend).slice(Slice.columns(0, 2)).explain(read(plain));
        assertThat(half.conversions()).isEmpty();
        LoadPlan narrow = Loader.of(backend).slice(Slice.columns(0, 3)).explain(read(plain));
        assertThat(narrow.conversions()).containsExactly("assembled");
        for (LoadPlan plan : List.of(rows, half, narrow)) {
            assertThat(plan.bytes()).isGreaterThan(150_000);
        }
        try (LoadedArrays loaded = get(Loader.of(backend).load(plain))) {
            assertThat(loaded.conversions()).isEmpty();
            assertThat(loaded.paths()).isNotEmpty();
            byte[] all = bytes(loaded.get("a"));
            for (int i = 0; i < 4; i++) {
                byte[] chunk = Files.readAllBytes(plain.resolve("c/" + i + "/0"));
                assertThat(Arrays.copyOfRange(all, i * chunk.length, (i + 1) * chunk.length))
                        .isEqualTo(chunk);
            }
        }
    }

    /** Writes an array of U16 with chunks along the first dimension. */
    private Path zarr(String shape, String chunks, int chunkBytes) throws IOException {
        Path array = Files.createDirectories(folder.resolve("a"));
        Files.writeString(array.resolve("zarr.json"), """
                {"zarr_format": 3, "node_type": "array", "shape": %s, "data_type": "uint16", "fill_value": 0,
                 "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": %s}},
                 "chunk_key_encoding": {"name": "default"}, "codecs": [{"name": "bytes", "configuration": {"endian": "little"}}]}
                """.formatted(shape, chunks));
        Random random = new Random(1);
        for (int i = 0; i < 4; i++) {
            byte[] chunk = new byte[chunkBytes];
            random.nextBytes(chunk);
            Files.createDirectories(array.resolve("c/" + i));
            Files.write(array.resolve("c/" + i + "/0"), chunk);
        }
        return array;
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 100, 1000})
    void missingChunksHaveTheFillValueInEveryElement(int rows) throws IOException {
        Path array = zarr("[" + (rows + 1) + ", 7]", "[1, 7]", 14);
        Path document = array.resolve("zarr.json");
        Files.writeString(document, Files.readString(document).replace("\"fill_value\": 0", "\"fill_value\": 513"));
        for (int i = 1; i < 4; i++) {
            Files.delete(array.resolve("c/" + i + "/0"));
        }
        ByteBuffer expected = ByteBuffer.allocate(14 * (rows + 1)).order(ByteOrder.LITTLE_ENDIAN);
        expected.put(Files.readAllBytes(array.resolve("c/0/0")));
        while (expected.hasRemaining()) {
            expected.putShort((short) 513);
        }
        try (LoadedArrays loaded = get(Loader.of(backend).load(array))) {
            assertThat(bytes(loaded.get("a"))).isEqualTo(expected.array());
        }
    }

    @Test
    void chunksOfAnotherLengthAreRefused() throws IOException {
        Path array = zarr("[64, 4096]", "[16, 4096]", 16 * 4096 * 2 - 1);
        assertThatThrownBy(() -> read(array))
                .isInstanceOf(MalformedFileException.class)
                .hasMessageContaining("must have 131072 bytes, had 131071");
    }

    @Test
    void anIndexOfAShardThatHasAnotherSumIsRefused() throws IOException {
        Path copy = folder.resolve("sharded");
        MutatedChunksTest.copied(Real.file("zarr/v3.zarr/sharded"), copy);
        Path shard = copy.resolve("c/1/0");
        byte[] bytes = Files.readAllBytes(shard);
        bytes[bytes.length - 1] ^= 1; // of the sum
        Files.write(shard, bytes);
        assertThatThrownBy(() -> read(copy))
                .isInstanceOf(MalformedFileException.class)
                .hasMessageContaining("the CRC-32C of the shard's index must be");
    }

    @Test
    void slabsThatDoNotFitTheHostsMemoryAreRefused() throws IOException {
        Path array = zarr("[16, 1000000]", "[16, 4096]", 16 * 4096 * 2);
        assertThatThrownBy(() -> Loader.of(backend).hostBytes(1 << 20).explain(read(array)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("needs 32000000 bytes of host memory to be assembled from its chunks")
                .hasMessageEndingWith("; see Loader.hostBytes, or --host-memory of penstock load");
    }

    @Test
    void arraysThatDoNotFitTheDeviceAreNamed() throws IOException {
        Path array = zarr("[281474976710656, 1]", "[4096, 1]", 1);
        for (int i = 0; i < 4; i++) {
            Files.delete(array.resolve("c/" + i + "/0"));
        }
        ArrayFile file = read(array);
        assertThatThrownBy(() -> get(Loader.of(backend).hostBytes(1 << 20).load(file)))
                .isInstanceOf(TransientStorageException.class)
                .hasMessageStartingWith("no memory for a buffer of 562949953421312 bytes, the largest array is "
                        + file.arrays().get(0).name() + " of 562949953421312 bytes: ");
    }
}
