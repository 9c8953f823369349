// SPDX-License-Identifier: Apache-2.0
package io.penstock.formats;

import static io.penstock.formats.LoaderTest.bytes;
import static io.penstock.formats.LoaderTest.get;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.Backend;
import io.penstock.Backends;
import io.penstock.DeviceBuffer;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Vectors behind their dimensions: {@code .fvecs}, {@code .bvecs}, {@code .ivecs}. */
class VecsReaderTest {

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

    /** Returns a file whose numbers count from 0. */
    static byte[] floats(int rows, int columns) {
        ByteBuffer bytes = ByteBuffer.allocate(rows * (4 + 4 * columns)).order(ByteOrder.LITTLE_ENDIAN);
        for (int row = 0; row < rows; row++) {
            bytes.putInt(columns);
            for (int column = 0; column < columns; column++) {
                bytes.putFloat(row * columns + column);
            }
        }
        return bytes.array();
    }

    private Path write(String name, byte[] bytes) throws IOException {
        return Files.write(folder.resolve(name), bytes);
    }

    private static float[] counted(int from, int to) {
        float[] numbers = new float[to - from];
        for (int i = 0; i < numbers.length; i++) {
            numbers[i] = from + i;
        }
        return numbers;
    }

    /** Also of dimensions whose bytes are the magic number of a pickle, or the length of a header of NIfTI. */
    @ParameterizedTest
    @CsvSource({"1, 1", "3, 2", "20000, 3", "2, 640", "7, 348", "2, 40000"})
    void aFileIsOneMatrix(int rows, int columns) throws IOException {
        Path path = write("Base.FVECS", floats(rows, columns));
        ArrayFile file = get(Formats.read(path));
        assertThat(file.format()).isEqualTo("fvecs");
        Array array = file.array("Base").orElseThrow();
        assertThat(array.shape()).containsExactly((long) rows, (long) columns);
        assertThat(array.bytes()).isEqualTo(4L * rows * columns);
        try (LoadedArrays loaded = get(Loader.of(backend).load(path))) {
            assertThat(get(loaded.get("Base").floats())).containsExactly(counted(0, rows * columns));
            assertThat(loaded.get("Base").rowStride()).isZero();
        }
        try (LoadedArrays loaded = get(Loader.of(backend).keepGaps().load(path))) {
            DeviceArray gaps = loaded.get("Base");
            assertThat(gaps.rowStride()).isEqualTo(4 + 4L * columns);
            byte[] all = floats(rows, columns);
            assertThat(bytes(gaps)).isEqualTo(Arrays.copyOfRange(all, 4, all.length));
            assertThatThrownBy(() -> get(gaps.floats()))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("has gaps between its rows");
            assertThatThrownBy(() -> get(gaps.preview())).isInstanceOf(IllegalArgumentException.class);
        }
        assertThat(get(Loader.of(backend).keepGaps().explain(path)).transfers()).isOne();
    }

    @Test
    void bytesAndIntegersAreReadToo() throws IOException {
        byte[] bytes = {2, 0, 0, 0, 7, 8, 2, 0, 0, 0, 9, -1};
        try (LoadedArrays loaded = get(Loader.of(backend).load(write("b.bvecs", bytes)))) {
            assertThat(loaded.get("b").type()).isEqualTo(ElementType.U8);
            assertThat(bytes(loaded.get("b"))).containsExactly(7, 8, 9, -1);
        }
        try (LoadedArrays loaded = get(Loader.of(backend).keepGaps().load(write("b.bvecs", bytes)))) {
            assertThat(bytes(loaded.get("b"))).containsExactly(7, 8, 2, 0, 0, 0, 9, -1);
        }
        byte[] integers = {1, 0, 0, 0, 5, 0, 0, 0};
        try (LoadedArrays loaded = get(Loader.of(backend).load(write("g.ivecs", integers)))) {
            assertThat(loaded.get("g").type()).isEqualTo(ElementType.I32);
            assertThat(bytes(loaded.get("g"))).containsExactly(5, 0, 0, 0);
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void aMatrixIsSliced(boolean gaps) throws IOException {
        Path path = write("a.fvecs", floats(10, 4));
        Loader loader = gaps ? Loader.of(backend).keepGaps() : Loader.of(backend);
        try (LoadedArrays rows = get(loader.slice(Slice.rows(1, 4)).load(path));
                LoadedArrays columns = get(loader.slice(Slice.columns(1, 2)).load(path));
                LoadedArrays none = get(loader.slice(Slice.rows(0, 100)).load(path))) {
            assertThat(rows.get("a").shape()).containsExactly(3L, 4L);
            assertThat(columns.get("a").shape()).containsExactly(10L, 2L);
            assertThat(none.get("a").shape()).containsExactly(0L, 4L);
            assertThat(none.get("a").rowStride()).isZero();
            if (gaps) {
                assertThat(rows.get("a").rowStride()).isEqualTo(20);
                assertThat(bytes(rows.get("a"))).isEqualTo(Arrays.copyOfRange(floats(10, 4), 44, 100));
                assertThat(columns.get("a").rowStride()).isEqualTo(20);
                assertThat(columns.get("a").bytes()).isEqualTo(9 * 20 + 8);
            } else {
                assertThat(get(rows.get("a").floats())).containsExactly(counted(8, 20));
                assertThat(get(columns.get("a").floats()))
                        .startsWith(2, 3, 6, 7)
                        .endsWith(38, 39);
            }
        }
    }

    /** What a slice leaves out is no gap of the file. */
    @Test
    void aSliceOfAMatrixWithoutGapsHasNone() throws IOException {
        Array matrix = new Array(
                "m",
                ElementType.F32,
                List.of(2L, 4L),
                ByteOrder.LITTLE_ENDIAN,
                Array.Order.ROW_MAJOR,
                new Extent(write("a.fvecs", floats(2, 4)), 4, 32));
        ArrayFile file = new ArrayFile(folder, "raw", Map.of(), List.of(matrix));
        Loader loader = Loader.of(backend).keepGaps().slice(Slice.columns(0, 2));
        try (LoadedArrays loaded = get(loader.load(file))) {
            assertThat(loaded.get("m").rowStride()).isZero();
            assertThat(loaded.get("m").bytes()).isEqualTo(16);
        }
    }

    /** Converted arrays pass through memory of the host, and have no gaps. */
    @Test
    void aMatrixIsConverted() throws IOException {
        Path path = write("a.fvecs", floats(3, 2));
        try (LoadedArrays loaded =
                get(Loader.of(backend).keepGaps().brainFloats().load(path))) {
            assertThat(loaded.get("a").rowStride()).isZero();
            assertThat(get(loaded.get("a").floats())).containsExactly(counted(0, 6));
        }
    }

    /** All of them are compared where the bytes pass the host; a direct transfer does not read them. */
    @Test
    void everyRowMustHaveTheDimensionOfTheFirst() throws IOException {
        byte[] good = floats(5000, 3);
        byte[] bad = good.clone();
        bad[16 * 3000] = 2;
        String complaint = "row 3000 at byte 48000 has the dimension 2, but must have the first row's, 3";
        Path path = write("a.fvecs", bad);
        LoadPlan.Placement placement =
                get(Loader.of(backend).explain(path)).arrays().get(0);
        assertThatThrownBy(() -> placement.contents(part -> {}))
                .isInstanceOf(MalformedFileException.class)
                .hasMessageContainingAll("a.fvecs", complaint);
        LoadPlan.Placement gaps =
                get(Loader.of(backend).keepGaps().explain(path)).arrays().get(0);
        assertThatThrownBy(() -> gaps.contents(part -> {})).hasMessageContaining(complaint);
        assertThatThrownBy(() -> get(Loader.of(backend).brainFloats().load(path)))
                .isInstanceOf(MalformedFileException.class)
                .hasMessageContaining(complaint);
        get(Loader.of(backend).load(path)).close();
        bad = good.clone();
        bad[16 * 4999] = 2;
        Path last = write("a.fvecs", bad);
        assertThatThrownBy(() -> get(Formats.read(last))).hasMessageContaining("row 4999 at byte 79984 has the dim");
        get(Loader.of(backend).explain(write("a.fvecs", good))).arrays().get(0).contents(part -> {});
    }

    @Test
    void whatIsNoFileOfVectorsIsRefused() throws IOException {
        assertRefused(new byte[3], "neither its name nor its first bytes belong to a format that can be read");
        assertRefused(new byte[12], "it begins with the dimension 0,");
        assertRefused(Arrays.copyOf(floats(2, 3), 31), "its length must be a multiple of 16, was 31");
        assertRefused(Arrays.copyOf(floats(1, 3), 4), "its length must be a multiple of 16, was 4");
        byte[] huge = {-1, -1, -1, -1};
        assertRefused(huge, "neither its name nor its first bytes belong to a format that can be read");
        assertRefused(
                "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 5\n"
                        .getBytes(StandardCharsets.US_ASCII),
                "it is a Git LFS pointer to a file of 5 bytes");
        assertRefused(new byte[0], "it is empty");
    }

    private void assertRefused(byte[] bytes, String complaint) throws IOException {
        Path path = write("bad.fvecs", bytes);
        assertThatThrownBy(() -> get(Formats.read(path)))
                .isInstanceOf(MalformedFileException.class)
                .hasMessageContainingAll("bad.fvecs", complaint);
    }

    /** A gather cannot be shared: each device loads for itself; with gaps, one reads for both. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void devicesLoadAMatrixTogether(boolean gaps) throws IOException {
        Path path = write("a.fvecs", floats(1000, 3));
        SharedLoad shared = new SharedLoad();
        Loader loader = gaps ? Loader.of(backend).keepGaps() : Loader.of(backend);
        try (LoadedArrays first = get(loader.shared(shared).load(path))) {
            assertThat(bytes(first.get("a"))).hasSize(gaps ? 15_996 : 12_000);
        }
    }

    @Test
    void anArrayWithGapsIsNotWritten() throws IOException {
        Path path = write("a.fvecs", floats(3, 2));
        try (LoadedArrays loaded = get(Loader.of(backend).keepGaps().load(path))) {
            for (String format : List.of("npy", "safetensors")) {
                Path target = folder.resolve("out." + format);
                assertThatThrownBy(() -> get(
                                format.equals("npy")
                                        ? ArrayWriter.of(backend).npy(target, loaded.get("a"))
                                        : ArrayWriter.of(backend).safetensors(target, loaded.arrays())))
                        .as(format.toUpperCase(Locale.ROOT))
                        .isInstanceOf(IllegalArgumentException.class)
                        .hasMessageContaining("has gaps between its rows");
                assertThat(target).doesNotExist();
            }
        }
    }

    @Test
    void gapsAreOfMatricesInRowMajorOrder() {
        try (DeviceBuffer buffer = get(backend.allocate(64))) {
            for (List<Long> shape : List.of(List.of(4L), List.of(0L, 1L), List.of(2L, 5L))) {
                assertThatThrownBy(() -> new DeviceArray(
                                "a",
                                ElementType.F32,
                                shape,
                                ByteOrder.LITTLE_ENDIAN,
                                Array.Order.ROW_MAJOR,
                                buffer.all(),
                                16))
                        .isInstanceOf(IllegalArgumentException.class)
                        .hasMessageContaining("cannot have rows every 16 bytes");
            }
            FileBlocks blocks = new FileBlocks(folder.resolve("a"), 0, 8, 16, 4);
            assertThatThrownBy(() -> new Array(
                            "a", ElementType.F32, List.of(8L), ByteOrder.LITTLE_ENDIAN, Array.Order.ROW_MAJOR, blocks))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("gaps must be between the rows of a matrix, were in [8]");
        }
    }
}
