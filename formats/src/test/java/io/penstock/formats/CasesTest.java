// SPDX-License-Identifier: Apache-2.0
package io.penstock.formats;

import static io.penstock.formats.LoaderTest.bytes;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.Backend;
import io.penstock.Backends;
import java.io.IOException;
import java.nio.file.Path;
import java.util.HexFormat;
import java.util.Objects;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The files of {@code cases}: what a reader got wrong once is read right, or refused. */
class CasesTest {

    private static Backend backend;

    @BeforeAll
    static void open() {
        backend = Backends.open("host");
    }

    @AfterAll
    static void close() {
        backend.close();
    }

    static Path path(String name) {
        return Real.file("../cases/" + name);
    }

    private static LoadedArrays load(String name, String... arrays) {
        return Objects.requireNonNull(
                Loader.of(backend).arrays(arrays).load(path(name)).block());
    }

    /** Returns the contents of a file as {@code load --verify} reads them. */
    private static void verify(String name) throws IOException {
        for (LoadPlan.Placement placement : Objects.requireNonNull(
                        Loader.of(backend).explain(path(name)).block())
                .arrays()) {
            placement.contents(part -> {});
        }
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "arrow-variadic-huge.arrow       | buffers",
                "arrow-block-length-4-short.arrow| a block",
                "arrow-data-absent.arrow         | has no bytes",
                "arrow-rows-negative.arrow       | -1",
                "npz-crc-deflated.npz            | CRC-32",
                "zarr2-gzip-trailing-junk        | gzip: ",
                "zarr3-gzip-cut                  | gzip: the data end early",
                "cut.zarr                        | gzip: the data end early",
                "zarr3-shard-chunk-in-index      | index",
                "gguf-split-count/m-00001-of-00002.gguf | split.tensors.count is 5",
                "nifti-vox-offset-348.nii        | the data at byte 352 takes 48 bytes, but the file ends after 44",
                "nested.zarr                     | 0/0",
                "repr.npy                        | np.int64(3)"
            })
    void aFileThatContradictsItselfIsRefused(String name, String complaint) {
        assertThatThrownBy(() -> load(name).close())
                .isInstanceOf(MalformedFileException.class)
                .hasMessageContainingAll(name, complaint);
    }

    /** Those bytes go straight to the device: only a comparison with the file reads them. */
    @ParameterizedTest
    @CsvSource({"npz-crc-stored.npz", "rotten.npz"})
    void aStoredMemberIsComparedWithItsSumWhereItPassesTheHost(String name) {
        assertThatThrownBy(() -> verify(name))
                .isInstanceOf(MalformedFileException.class)
                .hasMessageContainingAll(name, "CRC-32");
    }

    @Test
    void aNameOfOursIsNoCodecOfZarr() {
        assertThatThrownBy(() -> load("zarr3-codec-name-of-our-own"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("encoded by arrow-padding, which cannot be decoded");
    }

    /** The first bytes of an array. */
    @ParameterizedTest
    @CsvSource({
        "nifti-vox-offset-0.nii, nifti-vox-offset-0, 00010203",
        "npy-descr-native.npy, npy-descr-native, ''",
        "npy-u-prefix.npy, npy-u-prefix, ''",
        "npz-one-object-old-style.npz, good, ''",
        "npz-one-empty-text.npz, good, ''",
        "numcodecs.zarr, numcodecs, 0102030405060708",
        "textfill.zarr, textfill, 000001000200",
        "bitshuffled.zarr, bitshuffled, 000102030405060708090a0b0c0d0e0f10",
        "zarr2-blosc-autoshuffle-u8, zarr2-blosc-autoshuffle-u8, ''",
        "zarr3-plate, A/1/0/0, ''",
        "arrow-duplicate-names.arrow, 0/ints~2/validity, 00",
    })
    void whatIsValidIsRead(String name, String array, String first) {
        try (LoadedArrays loaded = load(name)) {
            assertThat(HexFormat.of().formatHex(bytes(loaded.get(array)))).startsWith(first);
        }
    }

    @Test
    void theSuffixOfANameBelongsToTheField() {
        try (LoadedArrays loaded = load("arrow-duplicate-names.arrow")) {
            assertThat(loaded.find("0/ints/validity")).isEmpty();
            assertThat(bytes(loaded.get("0/ints/data"))).containsExactly(93);
            assertThat(loaded.find("0/ints~2/data")).isPresent();
        }
    }

    @Test
    void aFolderWithoutMetadataIsEnteredAndNamed() {
        ArrayFile file =
                Objects.requireNonNull(Formats.read(path("zarr3-plate")).block());
        assertThat(file.attributes()).containsEntry("folders without metadata", "A");
        assertThat(file.attributes().get("ome")).contains("plate");
    }

    /** The file has the rows of 4 x 128 elements, 64 of them in 18 bytes. */
    @Test
    void theTypesOfGgmlAreKnown() {
        try (LoadedArrays loaded = load("gguf-q2_0.gguf")) {
            DeviceArray array = loaded.arrays().get(0);
            assertThat(array.type()).isEqualTo(new ElementType("Q2_0", 64, 18));
            assertThat(array.shape()).containsExactly(4L, 128L);
            assertThat(array.bytes()).isEqualTo(144);
        }
    }

    /** All 64 x 64 elements: shuffled by bits in blocks, and decoded. */
    @Test
    void bitsAreUnshuffled() {
        try (LoadedArrays loaded = load("bitshuffled.zarr")) {
            byte[] bytes = bytes(loaded.arrays().get(0));
            for (int i = 0; i < bytes.length; i++) {
                assertThat(bytes[i]).isEqualTo((byte) i);
            }
        }
    }

    @Test
    void concurrentErrorsAreNotMerged() {
        Queue<Throwable> dropped = new ConcurrentLinkedQueue<>();
        Path path = path("arrow-two-damaged-buffers.arrow");
        for (int i = 0; i < 400; i++) {
            assertThatThrownBy(() -> Loader.of(backend)
                            .load(path)
                            .contextWrite(context ->
                                    context.put("reactor.onErrorDropped.local", (Consumer<Throwable>) dropped::add))
                            .block())
                    .isInstanceOf(MalformedFileException.class)
                    .hasMessageContaining("arrow-two-damaged-buffers.arrow");
        }
        assertThat(dropped).as("would be logged").isEmpty();
    }
}
