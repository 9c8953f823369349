// SPDX-License-Identifier: Apache-2.0
package io.penstock.formats;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.fail;

import io.penstock.formats.read.FormatReader;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Damages valid files at random, always in the same way: a reader accepts or refuses each, and does nothing else. */
@Tag("once")
class MutatedFilesTest {

    private static final int MUTANTS = 1000; // of each file

    /** Numbers that programs calculate wrongly with. */
    private static final long[] HOSTILE = {
        0,
        1,
        -1,
        Long.MAX_VALUE,
        Long.MIN_VALUE,
        Integer.MAX_VALUE,
        1L << 31,
        0xffffffffL,
        1L << 40,
        100_000_000,
        1L << 62
    };

    @TempDir
    Path folder;

    @ParameterizedTest
    @ValueSource(
            strings = {
                "model.safetensors",
                "small.safetensors",
                "sharded.safetensors.index.json",
                "model.gguf",
                "aligned.gguf",
                "parts-00002-of-00003.gguf",
                "numpy/v1.npy",
                "numpy/v3.npy",
                "numpy/stored.npz",
                "numpy/deflated.npz",
                "numpy/zip64.npz",
                "nifti/i16-big.nii",
                "nifti/extended.nii",
                "nifti/two-extended.nii",
                "nifti/two-u8-big.nii",
                "arrow/java.arrow",
                "arrow/js.arrow",
                "arrow/java-zstd.arrow",
                "../cases/stream.arrow"
            })
    void aDamagedFileIsReadOrRefused(String name) throws IOException {
        copyNeighbours();
        byte[] valid = Files.readAllBytes(Real.file(name));
        FormatReader reader = FormatReader.of(Real.file(name));
        Random random = new Random(name.hashCode());
        Path file = folder.resolve(Path.of(name).getFileName());
        int refused = 0;
        for (int i = 0; i < MUTANTS; i++) {
            byte[] mutant = mutant(valid, random);
            Files.write(file, mutant);
            refused += refuses(reader, file, i) ? 1 : 0;
        }
        assertThat(refused).as("of %s files", MUTANTS).isBetween(MUTANTS / 20, MUTANTS);
    }

    private void copyNeighbours() throws IOException {
        for (int i = 1; i <= 3; i++) {
            for (String name :
                    new String[] {"sharded-0000" + i + "-of-00003.safetensors", "parts-0000" + i + "-of-00003.gguf"}) {
                Files.copy(Real.file(name), folder.resolve(name));
            }
        }
    }

    private static boolean refuses(FormatReader reader, Path file, int mutant) {
        try {
            ArrayFile read = reader.read(file, Set.of());
            for (Array array : read.arrays()) {
                for (Extent extent : extents(array)) {
                    assertThat(extent.end()).as("mutant %s", mutant).isLessThanOrEqualTo(Files.size(extent.file()));
                }
            }
            return false;
        } catch (MalformedFileException e) {
            return true;
        } catch (IOException e) {
            assertThat(e.getClass().getName()).as("mutant %s", mutant).startsWith("java.");
            return true;
        } catch (RuntimeException | Error e) {
            return fail("mutant " + mutant, e);
        }
    }

    private static List<Extent> extents(Array array) {
        return array.data() instanceof Array.Data.Chunked chunked
                ? chunked.chunks().stream().map(Array.ChunkData::extent).toList()
                : List.of((Extent) array.data());
    }

    static byte[] mutant(byte[] valid, Random random) {
        byte[] bytes = valid.clone();
        for (int changes = 1 + random.nextInt(3); changes > 0 && bytes.length > 8; changes--) {
            int at = random.nextInt(random.nextBoolean() ? bytes.length : Math.min(bytes.length, 1024));
            switch (random.nextInt(6)) {
                case 0 -> bytes[at] ^= (byte) (1 << random.nextInt(8));
                case 1 -> bytes[at] = (byte) random.nextInt(256);
                case 2 -> bytes = Arrays.copyOf(bytes, at);
                case 3 -> bytes = spliced(bytes, at, 0, random);
                case 4 -> bytes = spliced(bytes, at, Math.min(1 + random.nextInt(16), bytes.length - at), random);
                default -> {
                    long number = HOSTILE[random.nextInt(HOSTILE.length)];
                    ByteBuffer.wrap(bytes)
                            .order(ByteOrder.LITTLE_ENDIAN)
                            .putLong(Math.min(at, bytes.length - 8), number);
                }
            }
        }
        return bytes;
    }

    /** Replaces bytes by a few others: random ones, or digits and brackets. */
    private static byte[] spliced(byte[] bytes, int at, int removed, Random random) {
        byte[] inserted = new byte[random.nextInt(16)];
        random.nextBytes(inserted);
        if (random.nextBoolean()) {
            for (int i = 0; i < inserted.length; i++) {
                inserted[i] = (byte) "0123456789[]{}\",:-eE".charAt(random.nextInt(20));
            }
        }
        return ByteBuffer.allocate(bytes.length - removed + inserted.length)
                .put(bytes, 0, at)
                .put(inserted)
                .put(bytes, at + removed, bytes.length - at - removed)
                .array();
    }
}
