// SPDX-License-Identifier: Apache-2.0
package io.penstock.formats;

import static io.penstock.formats.LoaderTest.bytes;
import static io.penstock.formats.LoaderTest.get;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.Backend;
import io.penstock.Backends;
import io.penstock.formats.codec.SmallFloats;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.ShortBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Arrays that pass through memory of the host: swapped, rounded, inflated. */
class ConversionTest {

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

    private static ByteBuffer real(String name) throws IOException {
        ArrayFile file = get(Formats.read(Real.file("numpy/" + name)));
        return ByteBuffer.wrap(Real.bytes(file.arrays().get(0))).order(ByteOrder.LITTLE_ENDIAN);
    }

    @Test
    void halvesAreWhatNumpyRoundsTo() throws IOException {
        ByteBuffer floats = real("floats.npy");
        ShortBuffer halves = real("halves.npy").asShortBuffer();
        int count = 0;
        while (floats.hasRemaining()) {
            float value = floats.getFloat();
            short half = halves.get();
            if (!Float.isNaN(value)) {
                assertThat(SmallFloats.half(value)).as("%s", value).isEqualTo(half);
                count++;
            }
        }
        assertThat(count).isGreaterThan(1400);
        assertThat(SmallFloats.half(Float.NaN) & 0x7fff).isGreaterThan(0x7c00);
    }

    /** The nearest of the two neighbours of 16 bits, and of two that are equally near the even one. */
    private static short nearest(float value) {
        int low = Float.floatToRawIntBits(value) & 0xffff0000;
        double below = Float.intBitsToFloat(low);
        float next = Float.intBitsToFloat(low + 0x10000);
        double above = Float.isInfinite(next) ? Math.copySign(0x1p128, value) : next;
        double toBelow = Math.abs(value - below);
        double toAbove = Math.abs(above - value);
        boolean even = (low >>> 16 & 1) == 0;
        return (short) ((toBelow < toAbove || toBelow == toAbove && even ? low : low + 0x10000) >>> 16);
    }

    @Test
    void brainFloatsAreTheNearest() throws IOException {
        ByteBuffer floats = real("floats.npy");
        while (floats.hasRemaining()) {
            float value = floats.getFloat();
            if (Float.isFinite(value)) {
                assertThat(SmallFloats.brain(value)).as("%s", value).isEqualTo(nearest(value));
            }
        }
        assertThat(SmallFloats.brain(Float.POSITIVE_INFINITY)).isEqualTo((short) 0x7f80);
        assertThat(SmallFloats.brain(Float.NEGATIVE_INFINITY)).isEqualTo((short) 0xff80);
        assertThat(SmallFloats.brain(Float.intBitsToFloat(0x7f800001)) & 0x7fff).isGreaterThan(0x7f80);
        assertThat(SmallFloats.brain(Float.MAX_VALUE)).isEqualTo((short) 0x7f80);
    }

    @Test
    void bigEndianArraysBecomeLittleEndian() throws IOException {
        try (LoadedArrays loaded = get(Loader.of(backend).littleEndian().load(Real.file("numpy/stored.npz")))) {
            assertThat(loaded.conversions()).containsExactly("byte swap");
            ArrayFile file = get(Formats.read(Real.file("numpy/stored.npz")));
            for (Array array : file.arrays()) {
                DeviceArray found = loaded.get(array.name());
                byte[] expected = Real.bytes(array);
                if (array.byteOrder() == ByteOrder.BIG_ENDIAN) {
                    int size = array.type().blockBytes();
                    for (int i = 0; i < expected.length; i++) {
                        expected[i] = Real.bytes(array)[i / size * size + size - 1 - i % size];
                    }
                }
                assertThat(found.byteOrder()).isEqualTo(ByteOrder.LITTLE_ENDIAN);
                assertThat(bytes(found)).as(array.name()).isEqualTo(expected);
            }
        }
        try (LoadedArrays kept = get(Loader.of(backend).load(Real.file("numpy/stored.npz")))) {
            assertThat(kept.conversions()).isEmpty();
            assertThat(kept.get("big").byteOrder()).isEqualTo(ByteOrder.BIG_ENDIAN);
        }
    }

    @Test
    void floatsAreRoundedAlsoInPartsAndInSlices() throws IOException {
        List<Array> arrays = List.of(
                SafetensorsFile.array("odd", ElementType.U8, List.of(3L)),
                SafetensorsFile.array("large", ElementType.F32, List.of(1000L, 3001L)));
        Path model = SafetensorsFile.write(folder.resolve("m.safetensors"), arrays);
        Loader loader = Loader.of(backend).brainFloats().hostBytes(1 << 20);
        ByteBuffer whole = ByteBuffer.wrap(
                        Real.bytes(get(Formats.read(model)).array("large").orElseThrow()))
                .order(ByteOrder.LITTLE_ENDIAN);
        List<Short> found = new ArrayList<>();
        List<Short> expected = new ArrayList<>();
        try (LoadedArrays loaded =
                get(loader.slice("large", Slice.columns(1, 3)).load(model))) {
            DeviceArray large = loaded.get("large");
            assertThat(large.toString()).isEqualTo("large BF16 [1000, 1000]");
            assertThat(loaded.conversions()).containsExactly("F32 to BF16");
            ShortBuffer bits =
                    ByteBuffer.wrap(bytes(large)).order(ByteOrder.LITTLE_ENDIAN).asShortBuffer();
            while (bits.hasRemaining()) {
                found.add(bits.get());
            }
            assertThat(loaded.get("odd").type()).isEqualTo(ElementType.U8);
        }
        for (int row = 0; row < 1000; row++) {
            for (int column = 1000; column < 2000; column++) {
                expected.add(SmallFloats.brain(whole.getFloat(4 * (3001 * row + column))));
            }
        }
        assertThat(found).isEqualTo(expected);
    }

    @Test
    void deflatedArraysAreLoaded() throws IOException {
        try (LoadedArrays loaded = get(Loader.of(backend).load(Real.file("numpy/deflated.npz")));
                LoadedArrays stored = get(Loader.of(backend).load(Real.file("numpy/stored.npz")))) {
            assertThat(loaded.conversions()).contains("deflate", "npy");
            assertThat(loaded.arrays()).hasSameSizeAs(stored.arrays());
            for (DeviceArray array : stored.arrays()) {
                DeviceArray found = loaded.get(array.name());
                assertThat(bytes(found)).as(array.name()).isEqualTo(bytes(array));
                assertThat(found.order()).isEqualTo(array.order());
            }
        }
    }

    @Test
    void progressCountsWhatPassesThroughTheHost() {
        Load load = Loader.of(backend).prepare(Real.file("numpy/deflated.npz"));
        try (LoadedArrays loaded = get(load.arrays())) {
            LoadProgress last = get(load.progress().last());
            assertThat(last.done()).isEqualTo(last.total()).isEqualTo(loaded.bytes());
        }
    }

    @Test
    void whatHasNoNumbersToSwapIsRefused() {
        ArrayFile file = new ArrayFile(
                folder,
                "npy",
                Map.of(),
                List.of(new Array(
                        "long",
                        ElementType.of("LONGDOUBLE", 12),
                        List.of(1L),
                        ByteOrder.BIG_ENDIAN,
                        Array.Order.ROW_MAJOR,
                        new Extent(folder, 0, 12))));
        assertThatThrownBy(() -> Loader.of(backend).littleEndian().explain(file))
                .hasMessage("array long of LONGDOUBLE cannot be made little-endian");
        assertThat(Loader.of(backend).explain(file).conversions()).isEmpty();
        assertThatThrownBy(() -> Loader.of(backend).hostBytes(1)).hasMessageContaining("must be 1 MiB to 1 GiB, was 1");
    }

    private static Array big(Path file, ElementType type) {
        return new Array(
                type.name(),
                type,
                List.of(2L),
                ByteOrder.BIG_ENDIAN,
                Array.Order.ROW_MAJOR,
                new Extent(file, 0, 2L * type.blockBytes()));
    }

    /** Colours, text and raw bytes of 2, 4 or 8 bytes are no numbers; an interval of days and milliseconds is two. */
    @Test
    void onlyNumbersAreSwapped() throws IOException {
        byte[] bytes = new byte[64];
        for (int i = 0; i < bytes.length; i++) {
            bytes[i] = (byte) i;
        }
        Path file = Files.write(folder.resolve("x.bin"), bytes);
        List<ElementType> kept = List.of(
                ElementType.U8,
                ElementType.BOOL,
                ElementType.of("RGB24", 3),
                ElementType.of("RGBA32", 4),
                ElementType.of("S8", 8),
                ElementType.of("V2", 2),
                ElementType.of("V16", 16));
        for (ElementType type : kept) {
            ArrayFile one = new ArrayFile(file, "any", Map.of(), List.of(big(file, type)));
            try (LoadedArrays loaded = get(Loader.of(backend).littleEndian().load(one))) {
                DeviceArray found = loaded.get(type.name());
                assertThat(bytes(found)).as(type.name()).isEqualTo(Arrays.copyOf(bytes, 2 * type.blockBytes()));
                assertThat(found.byteOrder()).as(type.name()).isEqualTo(ByteOrder.LITTLE_ENDIAN);
                assertThat(loaded.conversions()).isEmpty();
            }
        }
        ArrayFile interval = new ArrayFile(file, "any", Map.of(), List.of(big(file, ElementType.of("DAY_TIME", 8))));
        try (LoadedArrays loaded = get(Loader.of(backend).littleEndian().load(interval))) {
            assertThat(bytes(loaded.get("DAY_TIME")))
                    .containsExactly(3, 2, 1, 0, 7, 6, 5, 4, 11, 10, 9, 8, 15, 14, 13, 12);
        }
    }
}
