// SPDX-License-Identifier: Apache-2.0
package io.penstock.formats;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.Backend;
import io.penstock.Backends;
import io.penstock.tck.Require;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;
import java.util.zip.CRC32;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import reactor.test.StepVerifier;

/**
 * NIfTI-1 and NIfTI-2 as nibabel wrote it, held against what nibabel reads; what is refused; and files without
 * metadata.
 */
class NiftiReaderTest {

    @TempDir
    Path folder;

    static List<String> expected() throws IOException {
        return Files.readAllLines(Real.file("nifti/expected.txt"));
    }

    private static ArrayFile read(Path path) {
        return Objects.requireNonNull(Formats.read(path).block());
    }

    private static List<Double> numbers(String list) {
        return Stream.of(list.substring(1, list.length() - 1).split(",", -1))
                .map(Double::valueOf)
                .toList();
    }

    @ParameterizedTest
    @MethodSource("expected")
    void aScanIsWhatNibabelReads(String line) throws IOException {
        String[] expected = line.split(" ", -1);
        Path path = Real.file("nifti/" + expected[0]);
        ArrayFile file = read(path);
        Array array = file.array(expected[0].replace(".nii", "")).orElseThrow();
        CRC32 crc = new CRC32();
        crc.update(Real.bytes(array));
        assertThat(array.order()).isEqualTo(Array.Order.COLUMN_MAJOR);
        assertThat(List.of(
                        array.type().name(),
                        array.shape().toString().replace(" ", ""),
                        String.valueOf(array.bytes()),
                        "%08x".formatted(crc.getValue()),
                        array.byteOrder() == ByteOrder.BIG_ENDIAN ? ">" : "<",
                        String.valueOf(((Extent) array.data()).offset())))
                .containsExactly(Arrays.copyOfRange(expected, 1, 7));
        NiftiFields fields = NiftiFields.parse(path, ByteBuffer.wrap(Files.readAllBytes(path)));
        assertThat(fields.spacing()).isEqualTo(numbers(expected[7]));
        List<Double> affine = numbers(expected[8]);
        for (int i = 0; i < 9; i++) {
            assertThat(Math.abs(fields.axes().get(i) - affine.get(i)))
                    .as("axes %s", fields.axes())
                    .isLessThan(1e-5);
        }
        assertThat(file.attributes()).containsKeys("spacing", "axes");
    }

    @Test
    void theDescriptionIsAnAttribute() {
        assertThat(read(Real.file("nifti/u8-big.nii")).attributes()).containsEntry("description", "a scan");
    }

    @Test
    void theFormatIsRecognizedWithoutTheName() throws IOException {
        for (String name : List.of("u8-big.nii", "u8-little.nii", "two-u8-big.nii", "two-u8-little.nii")) {
            Path copy = Files.copy(Real.file("nifti/" + name), folder.resolve(name.replace('.', '-')));
            assertThat(read(copy).format()).isEqualTo(name.startsWith("two") ? "NIfTI-2" : "NIfTI-1");
        }
    }

    private void assertRefused(byte[] bytes, String complaint) throws IOException {
        Path path = Files.write(folder.resolve("bad.nii"), bytes);
        assertThatThrownBy(() -> read(path))
                .isInstanceOf(MalformedFileException.class)
                .hasMessageStartingWith(path + ": not ")
                .hasMessageContaining(complaint);
    }

    /** Returns a valid file with a short at an offset. */
    private static byte[] with(int at, int value) throws IOException {
        byte[] bytes = Files.readAllBytes(Real.file("nifti/u8-little.nii"));
        ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN).putShort(at, (short) value);
        return bytes;
    }

    /** As FreeSurfer writes the values of a surface's vertices. */
    @Test
    void moreThanSixteenBitsHoldAreInGlmin() throws IOException {
        ByteBuffer bytes = ByteBuffer.allocate(352 + 80_000 * 4).order(ByteOrder.LITTLE_ENDIAN);
        bytes.putInt(0, 348);
        short[] dim = {4, -1, 1, 1, 2, 1, 1, 1};
        for (int i = 0; i < dim.length; i++) {
            bytes.putShort(40 + 2 * i, dim[i]);
        }
        bytes.putShort(70, (short) 16)
                .putShort(72, (short) 32)
                .putFloat(108, 352)
                .putInt(144, 40_000);
        bytes.put(344, "n+1".getBytes(StandardCharsets.US_ASCII)).putFloat(352 + 4 * 39_999, 7);
        Array array = read(Files.write(folder.resolve("surface.nii"), bytes.array()))
                .arrays()
                .get(0);
        assertThat(array.shape()).containsExactly(40_000L, 1L, 1L, 2L);
        assertThat(array.data()).isEqualTo(new Extent(folder.resolve("surface.nii"), 352, 320_000));
        assertRefused(bytes.putInt(144, 0).array(), "dim[1] is -1, but glmin must be at least 1, was 0");
        assertRefused(bytes.putShort(42, (short) -25_536).array(), "dim[1] must be at least 1, was -25536");
    }

    @Test
    void whatIsNotAScanIsRefused() throws IOException {
        byte[] good = with(40, 3);
        assertRefused(Arrays.copyOf(good, good.length - 1), "the data at byte 352 takes 60 bytes");
        assertRefused(Arrays.copyOf(good, 100), "its header must have 348 bytes, but the file has 100");
        assertRefused(Arrays.copyOf(good, 3), "it must begin with the header's length, 348 or 540");
        assertRefused(with(40, 8), "dim[0] must be 1 to 7, was 8");
        assertRefused(with(44, -4), "dim[2] must be at least 1, was -4");
        assertRefused(with(70, 99), "datatype 99 is unknown");
        assertRefused(with(70, 1), "voxels of 1 bit");
        assertRefused(with(72, 16), "its datatype is U8, but it has 16 bits per voxel");
        assertRefused(with(110, 0x7fc0), "but start at NaN");
        byte[] huge = with(40, 7);
        for (int i = 1; i <= 7; i++) {
            ByteBuffer.wrap(huge).order(ByteOrder.LITTLE_ENDIAN).putShort(40 + 2 * i, Short.MAX_VALUE);
        }
        assertRefused(huge, "are too many");
    }

    @ParameterizedTest
    @ValueSource(strings = {"u8-little.nii", "two-u8-little.nii"})
    void bytesBehindTheVoxelsAreRefusedUnlessTheyArePermitted(String name) throws IOException {
        byte[] good = Files.readAllBytes(Real.file("nifti/" + name));
        byte[] longer = Arrays.copyOf(good, good.length + 7);
        assertRefused(
                longer,
                "it must end with its voxels, at byte " + good.length + ", but has " + longer.length + " bytes;"
                        + " FormatOption.TRAILING_BYTES of Formats.read, or --lenient, permits that");
        Path path = folder.resolve("bad.nii");
        ArrayFile file = Objects.requireNonNull(
                Formats.read(path, FormatOption.TRAILING_BYTES).block());
        assertThat(file.attributes()).containsEntry("trailing bytes", "7");
        assertThat(Real.bytes(file.arrays().get(0)))
                .containsExactly(
                        Real.bytes(read(Real.file("nifti/" + name)).arrays().get(0)));
    }

    /** As behind the voxels of a file that is not compressed; here only a load comes to them. */
    @ParameterizedTest
    @ValueSource(ints = {1, 7, 100_000})
    void bytesBehindCompressedVoxelsAreRefusedUnlessTheyArePermitted(int count) throws IOException {
        byte[] good = Files.readAllBytes(Real.file("nifti/u8-little.nii"));
        byte[] voxels =
                Real.bytes(read(Real.file("nifti/u8-little.nii")).arrays().get(0));
        Path path = folder.resolve("longer.nii.gz");
        try (OutputStream file = Files.newOutputStream(path)) {
            for (byte[] part : List.of(good, new byte[count])) { // a member for each
                GZIPOutputStream gzip = new GZIPOutputStream(file);
                gzip.write(part);
                gzip.finish();
            }
        }
        String complaint = "it must end with its voxels, at byte " + good.length
                + ", but goes on; FormatOption.TRAILING_BYTES of Formats.read, or --lenient, permits that";
        try (Backend host = Backends.open("host")) {
            assertThatThrownBy(() -> Loader.of(host).load(path).block())
                    .isInstanceOf(MalformedFileException.class)
                    .hasMessageContaining(complaint);
            Loader lenient = Loader.of(host).formatOptions(FormatOption.TRAILING_BYTES);
            try (LoadedArrays loaded = LoaderTest.get(lenient.load(path))) {
                assertThat(LoaderTest.bytes(loaded.get("longer"))).isEqualTo(voxels);
                assertThat(loaded.conversions()).contains("gzip");
            }
            byte[] bytes = Files.readAllBytes(path);
            bytes[bytes.length - 6] ^= 1; // of the sum of what is behind the voxels
            Files.write(path, bytes);
            assertThatThrownBy(() -> lenient.load(path).block())
                    .hasMessageContaining(count > 1000 ? "gzip: the sum must be" : "gzip: "); // or read with the header
        }
    }

    /** What starts before 352 starts at 352 (nifti1.h): the same voxels, whatever is there, in files that are whole. */
    @ParameterizedTest
    @ValueSource(floats = {0, 1, 348, 349, 350, 351, 352})
    void anOffsetBefore352Is352(float offset) throws IOException {
        byte[] bytes = Files.readAllBytes(Real.file("nifti/u8-little.nii"));
        byte[] right =
                Real.bytes(read(Real.file("nifti/u8-little.nii")).arrays().get(0));
        ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN).putFloat(108, offset);
        Array array = read(Files.write(folder.resolve("o.nii"), bytes)).arrays().get(0);
        assertThat(Real.bytes(array)).containsExactly(right);
    }

    /** Returns a valid file of NIfTI-2 with a long at an offset. */
    private static byte[] two(int at, long value) throws IOException {
        byte[] bytes = Files.readAllBytes(Real.file("nifti/two-u8-little.nii"));
        ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN).putLong(at, value);
        return bytes;
    }

    @Test
    void theSecondVersionHasDimensionsOfMoreThan15Bits() throws IOException {
        byte[] bytes = Arrays.copyOf(two(24, 40_000), 544 + 40_000);
        ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN).putLong(32, 1).putLong(40, 1);
        Array array =
                read(Files.write(folder.resolve("long.nii"), bytes)).arrays().get(0);
        assertThat(array.shape()).containsExactly(40_000L, 1L, 1L);
        assertThat(array.bytes()).isEqualTo(40_000);
    }

    @Test
    void whatIsNotAScanIsRefusedInTheSecondVersionToo() throws IOException {
        byte[] good = two(16, 3);
        assertRefused(Arrays.copyOf(good, good.length - 1), "the data at byte 544 takes 60 bytes");
        assertRefused(Arrays.copyOf(good, 400), "its header must have 540 bytes, but the file has 400");
        assertRefused(two(16, 1L << 32), "dim[0] must be 1 to 7, was 4294967296");
        assertRefused(two(32, Long.MIN_VALUE), "dim[2] must be at least 1, was -9223372036854775808");
        assertRefused(two(32, 1L << 61), "are too many");
        assertRefused(two(32, 1L << 40), "the data at byte 544 takes");
        assertRefused(two(168, Long.MAX_VALUE), "are too many");
        assertRefused(two(168, 1L << 50), "the data would start at byte 1125899906842624");
        byte[] mangled = two(16, 3);
        mangled[8] = '\n'; // as by a transfer that changes the ends of lines
        assertRefused(mangled, "its magic number must be 6e2b32000d0a1a0a, was 6e2b32000a0a1a0a");
        mangled = two(16, 3);
        mangled[5] = 'i';
        assertRefused(mangled, "it is the header of a .hdr/.img pair");
    }

    /** Compressed as a whole, as most scans are: its voxels are the voxels of the file inside. */
    @ParameterizedTest
    @ValueSource(strings = {"u8-big.nii", "two-u8-little.nii"})
    void aCompressedScanHasTheVoxelsOfThePlainOne(String name) throws IOException {
        Path path = folder.resolve(name + ".gz");
        try (OutputStream gzip = new GZIPOutputStream(Files.newOutputStream(path))) {
            Files.copy(Real.file("nifti/" + name), gzip);
        }
        ArrayFile plain = read(Real.file("nifti/" + name));
        ArrayFile file = read(path);
        assertThat(file.format()).isEqualTo(plain.format());
        assertThat(file.attributes()).isEqualTo(plain.attributes());
        Array array = file.arrays().get(0);
        Array same = plain.arrays().get(0);
        assertThat(List.of(array.name(), array.type(), array.shape(), array.byteOrder(), array.order()))
                .isEqualTo(List.of(same.name(), same.type(), same.shape(), same.byteOrder(), same.order()));
        try (Backend host = Backends.open("host");
                LoadedArrays of = LoaderTest.get(Loader.of(host).load(plain));
                LoadedArrays loaded = LoaderTest.get(Loader.of(host).load(path))) {
            assertThat(LoaderTest.bytes(loaded.get(array.name()))).isEqualTo(LoaderTest.bytes(of.get(array.name())));
            assertThat(loaded.conversions()).contains("gzip");
        }
    }

    @Test
    void aDamagedCompressedScanIsRefused() throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (GZIPOutputStream gzip = new GZIPOutputStream(bytes)) {
            gzip.write(with(40, 3));
        }
        byte[] good = bytes.toByteArray();
        assertRefused(Arrays.copyOf(good, 30), "gzip: ");
        ByteArrayOutputStream text = new ByteArrayOutputStream();
        try (GZIPOutputStream gzip = new GZIPOutputStream(text)) {
            gzip.write("a text".getBytes(StandardCharsets.US_ASCII));
        }
        assertRefused(text.toByteArray(), "it must begin with the header's length");
        byte[] wrong = good.clone();
        wrong[good.length - 6] ^= 1; // of the sum
        Path path = Files.write(folder.resolve("a.nii.gz"), wrong);
        try (Backend host = Backends.open("host")) {
            assertThatThrownBy(() -> Loader.of(host).load(path).block())
                    .isInstanceOf(MalformedFileException.class)
                    .hasMessageContaining("gzip: ");
        }
    }

    @Test
    void aFileThatIsNoGzipIsClosed() throws IOException {
        Path descriptors = Path.of("/proc/self/fd");
        if (!Files.isDirectory(descriptors)) {
            Require.backend("proc", "there is no " + descriptors);
        }
        for (int i = 0; i < 20; i++) {
            assertRefused(new byte[] {0x1f, (byte) 0x8b, 9, 0, 0, 0, 0, 0, 0, 0}, "gzip: ");
        }
        List<String> open = new ArrayList<>();
        try (DirectoryStream<Path> all = Files.newDirectoryStream(descriptors)) {
            for (Path descriptor : all) {
                try {
                    open.add(Files.readSymbolicLink(descriptor).toString());
                } catch (NoSuchFileException e) {
                    // another thread has closed it meanwhile
                }
            }
        }
        assertThat(open).isNotEmpty().noneMatch(name -> name.startsWith(folder.toString()));
    }

    @Test
    void aRawFileIsDescribedByItsReader() throws IOException {
        Path path = Files.write(folder.resolve("a.bin"), new byte[100]);
        ArrayFile file = Objects.requireNonNull(
                Formats.raw(path, 4, ElementType.F32, List.of(3L, 8L)).block());
        assertThat(file.array("a.bin").orElseThrow().data()).isEqualTo(new Extent(path, 4, 96));
        StepVerifier.create(Formats.raw(path, 5, ElementType.F32, List.of(3L, 8L)))
                .expectErrorMessage(path + ": not a valid raw file: the array at byte 5 takes 96 bytes, but the file"
                        + " ends after 95")
                .verify();
        StepVerifier.create(Formats.raw(path, 101, ElementType.U8, List.of(0L)))
                .verifyError(MalformedFileException.class);
        assertThatThrownBy(() -> Formats.raw(path, -1, ElementType.U8, List.of()))
                .isInstanceOf(IndexOutOfBoundsException.class);
        assertThatThrownBy(() -> Formats.raw(path, 0, ElementType.F64, List.of(Long.MAX_VALUE)))
                .isInstanceOf(IllegalArgumentException.class);
    }
}
