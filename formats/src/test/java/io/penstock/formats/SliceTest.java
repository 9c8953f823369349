// SPDX-License-Identifier: Apache-2.0
package io.penstock.formats;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.Backend;
import io.penstock.Backends;
import io.penstock.formats.load.Batch;
import java.io.IOException;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import reactor.core.publisher.Mono;

/** Slices, held against elements picked one by one. */
class SliceTest {

    private static final Path FILE = Path.of("file");

    @TempDir
    Path folder;

    private static Array array(ElementType type, Array.Order order, Long... shape) {
        List<Long> dimensions = List.of(shape);
        Extent extent = new Extent(FILE, 1000, Array.bytes(type, dimensions));
        return new Array("a", type, dimensions, ByteOrder.LITTLE_ENDIAN, order, extent);
    }

    private static Slice.Cut cut(Slice slice, Array array) {
        return slice.cut(array, (Extent) array.data());
    }

    /** Returns the offsets of the bytes of a part, in their order. */
    private static List<Long> offsets(ArraySource source) {
        FileBlocks blocks = FileBlocks.of(source);
        List<Long> offsets = new ArrayList<>();
        for (long block = 0; block < blocks.count(); block++) {
            for (long i = 0; i < blocks.length(); i++) {
                offsets.add(blocks.offset() + block * blocks.stride() + i);
            }
        }
        return offsets;
    }

    @ParameterizedTest
    @CsvSource({"ROWS, ROW_MAJOR", "ROWS, COLUMN_MAJOR", "COLUMNS, ROW_MAJOR", "COLUMNS, COLUMN_MAJOR"})
    void aPartHasTheElementsOfItsPartOfTheDimension(Slice.Dimension dimension, Array.Order order) {
        long[] shape = {5, 3, 7};
        Array array = array(ElementType.U8, order, 5L, 3L, 7L);
        int divided = dimension == Slice.Dimension.ROWS ? 0 : 2;
        for (int of = 1; of <= 9; of++) {
            for (int part = 0; part < of; part++) {
                long from = shape[divided] * part / of;
                long to = shape[divided] * (part + 1) / of;
                List<Long> expected = new ArrayList<>();
                for (long i = 0; i < 5 * 3 * 7; i++) {
                    long[] index = order == Array.Order.ROW_MAJOR
                            ? new long[] {i / 21, i / 7 % 3, i % 7}
                            : new long[] {i % 5, i / 5 % 3, i / 15};
                    if (index[divided] >= from && index[divided] < to) {
                        expected.add(1000 + i);
                    }
                }
                Slice.Cut cut = cut(new Slice(dimension, part, of), array);
                assertThat(offsets(cut.source())).as("part %s of %s", part, of).isEqualTo(expected);
                assertThat(cut.shape().get(divided)).isEqualTo(to - from);
                assertThat(cut.source().bytes()).isEqualTo(expected.size());
            }
        }
    }

    @Test
    void aScalarIsInEveryPart() {
        Array scalar = array(ElementType.F32, Array.Order.ROW_MAJOR);
        assertThat(cut(Slice.rows(1, 2), scalar).source().bytes()).isEqualTo(4);
        assertThat(cut(Slice.columns(0, 2), scalar).source().first().offset()).isEqualTo(1000);
    }

    @Test
    void anArrayWithoutElementsHasEmptyParts() {
        Array empty = array(ElementType.F32, Array.Order.ROW_MAJOR, 4L, 0L);
        Slice.Cut cut = cut(Slice.rows(1, 2), empty);
        assertThat(cut.shape()).containsExactly(2L, 0L);
        assertThat(cut.source().bytes()).isZero();
    }

    @Test
    void blocksOfQuantizedTypesStayWhole() {
        ElementType type = new ElementType("Q4_0", 32, 18);
        Array array = array(type, Array.Order.ROW_MAJOR, 4L, 96L);
        assertThat(cut(Slice.columns(0, 2), array).shape()).containsExactly(4L, 32L);
        assertThat(cut(Slice.columns(1, 2), array).shape()).containsExactly(4L, 64L);
        assertThat(cut(Slice.columns(1, 2), array).source()).isEqualTo(new FileBlocks(FILE, 1018, 36, 54, 4));
        assertThat(cut(Slice.rows(1, 2), array).source()).isEqualTo(new Extent(FILE, 1108, 108));
        Array narrow = array(type, Array.Order.ROW_MAJOR, 3L, 16L, 2L);
        assertThatThrownBy(() -> cut(Slice.columns(0, 2), narrow))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("a block of 32 elements would be divided");
    }

    @Test
    void partsAreCountedFromZero() {
        for (int[] wrong : new int[][] {{-1, 2}, {2, 2}, {0, 0}, {0, -1}}) {
            assertThatThrownBy(() -> Slice.rows(wrong[0], wrong[1])).isInstanceOf(IllegalArgumentException.class);
        }
        assertThatThrownBy(() -> Slice.rows(2, 2)).hasMessage("a slice of 2 parts must be part 0 to 1, was 2");
        assertThatThrownBy(() -> Slice.rows(0, 0)).hasMessage("a slice must be of at least 1 part, was of 0");
    }

    @Test
    void everyDeviceGetsItsPart() throws IOException {
        Path model = SafetensorsFile.write(
                folder.resolve("m.safetensors"),
                List.of(
                        SafetensorsFile.array("matrix", ElementType.BF16, List.of(30L, 17L)),
                        SafetensorsFile.array("wide", ElementType.F32, List.of(3L, 4001L)),
                        SafetensorsFile.array("norm", ElementType.F32, List.of(9L))));
        try (Backend backend = Backends.open("host")) {
            for (int part = 0; part < 3; part++) {
                Loader loader = Loader.of(backend)
                        .slice("norm", Slice.rows(0, 1))
                        .slice(Slice.columns(part, 3))
                        .transferBytes(4096);
                try (LoadedArrays loaded = LoaderTest.get(loader.load(model))) {
                    for (LoadPlan.Placement placed :
                            LoaderTest.get(loader.explain(model)).arrays()) {
                        DeviceArray array = loaded.get(placed.array().name());
                        assertThat(LoaderTest.bytes(array)).isEqualTo(Real.bytes(placed.source()));
                        assertThat(array.shape()).isEqualTo(placed.shape());
                        assertThat(array.region().offset() % Loader.ALIGNMENT).isZero();
                    }
                    assertThat(loaded.get("matrix").shape()).containsExactly(30L, part == 0 ? 5L : 6L);
                    assertThat(loaded.get("norm").shape()).containsExactly(9L);
                }
            }
        }
    }

    private static final int ROWS = 8;
    private static final int CHUNK_COLUMNS = 4200;
    private static final int COLUMNS = 4 * CHUNK_COLUMNS + 2; // so that parts start a little within a chunk

    /**
     * Returns an array of bytes in four columns of chunks and a rest; each element is the number of its column of
     * chunks.
     */
    private ArrayFile chunks() throws IOException {
        List<Array.ChunkData> chunks = new ArrayList<>();
        for (long j = 0; j * CHUNK_COLUMNS < COLUMNS; j++) {
            byte[] bytes = new byte[ROWS * CHUNK_COLUMNS];
            Arrays.fill(bytes, (byte) j);
            Path file = Files.write(folder.resolve("0." + j), bytes);
            chunks.add(new Array.ChunkData(List.of(0L, j), new Extent(file, 0, bytes.length), List.of()));
        }
        Array array = new Array(
                "a",
                ElementType.U8,
                List.of((long) ROWS, (long) COLUMNS),
                ByteOrder.LITTLE_ENDIAN,
                Array.Order.ROW_MAJOR,
                new Array.Data.Chunked(List.of((long) ROWS, (long) CHUNK_COLUMNS), List.of(), chunks, List.of()));
        return new ArrayFile(folder, "test", Map.of(), List.of(array));
    }

    /** A gap between two runs of a chunk is the place of another chunk's. */
    @Test
    void noTwoTransfersOfAPartWriteTheSameBytes() throws IOException {
        ArrayFile file = chunks();
        try (Backend backend = Backends.open("host")) {
            for (int part = 0; part < 4; part++) {
                Loader loader = Loader.of(backend).slice(Slice.columns(part, 4));
                List<Batch.Piece> pieces = new ArrayList<>();
                LoadPlan plan = loader.explain(file);
                assertThat(plan.conversions()).isEmpty();
                plan.batches().values().forEach(all -> all.forEach(batch -> pieces.addAll(batch.pieces())));
                pieces.sort(Comparator.comparingLong(Batch.Piece::offset));
                long end = 0;
                for (Batch.Piece piece : pieces) {
                    assertThat(piece.offset()).as("part %s", part).isEqualTo(end);
                    end = piece.offset() + piece.bytes();
                }
                try (LoadedArrays loaded = LoaderTest.get(loader.load(file))) {
                    byte[] bytes = LoaderTest.bytes(loaded.get("a"));
                    int from = COLUMNS * part / 4;
                    int columns = COLUMNS * (part + 1) / 4 - from;
                    byte[] expected = new byte[ROWS * columns];
                    for (int i = 0; i < expected.length; i++) {
                        expected[i] = (byte) ((from + i % columns) / CHUNK_COLUMNS);
                    }
                    assertThat(bytes).isEqualTo(expected);
                }
            }
        }
    }

    private void assertSharedAsAlone(ArrayFile file, Slice.Dimension dimension) {
        SharedLoad shared = new SharedLoad();
        try (Backend one = Backends.open("host");
                Backend two = Backends.open("host")) {
            Loader left = Loader.of(one).transferBytes(4096).slice(new Slice(dimension, 0, 2));
            Loader right = Loader.of(two).transferBytes(4096).slice(new Slice(dimension, 1, 2));
            try (LoadedArrays first = LoaderTest.get(left.load(file));
                    LoadedArrays second = LoaderTest.get(right.load(file))) {
                var both = LoaderTest.get(Mono.zip(
                        left.shared(shared).load(file), right.shared(shared).load(file)));
                try (LoadedArrays a = both.getT1();
                        LoadedArrays b = both.getT2()) {
                    assertThat(LoaderTest.bytes(a.get("a"))).isEqualTo(LoaderTest.bytes(first.get("a")));
                    assertThat(LoaderTest.bytes(b.get("a"))).isEqualTo(LoaderTest.bytes(second.get("a")));
                }
            }
        }
    }

    @ParameterizedTest
    @EnumSource(Slice.Dimension.class)
    void partsOfChunksAreLoadedByEachForItself(Slice.Dimension dimension) throws IOException {
        assertSharedAsAlone(chunks(), dimension);
    }

    @ParameterizedTest
    @CsvSource({"ROWS, ROW_MAJOR", "ROWS, COLUMN_MAJOR", "COLUMNS, ROW_MAJOR", "COLUMNS, COLUMN_MAJOR"})
    void partsAreLoadedByEachForItself(Slice.Dimension dimension, Array.Order order) throws IOException {
        byte[] data = new byte[4 * 20_000];
        new Random(1).nextBytes(data);
        Path path = Files.write(folder.resolve("a"), data);
        Array array = new Array(
                "a",
                ElementType.U8,
                List.of(4L, 20_000L),
                ByteOrder.LITTLE_ENDIAN,
                order,
                new Extent(path, 0, data.length));
        assertSharedAsAlone(new ArrayFile(path, "test", Map.of(), List.of(array)), dimension);
    }
}
