// SPDX-License-Identifier: Apache-2.0
package io.penstock.formats;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.fail;

import io.penstock.formats.load.Assembly;
import io.penstock.formats.read.FormatReader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Damages arrays in chunks at random, always in the same way: they are read and decoded, or refused. */
@Tag("once")
class MutatedChunksTest {

    private static final int MUTANTS = 100; // of each array

    @TempDir
    Path folder;

    @ParameterizedTest
    @ValueSource(
            strings = {
                "zarr/v3.zarr/sharded",
                "zarr/v3.zarr/sharded-zstd",
                "zarr/v3.zarr/blosc",
                "zarr/v3.zarr/gzip",
                "zarr/v3.zarr/crc32c",
                "zarr/v3.zarr/fortran",
                "zarr/v2.zarr/blosc",
                "zarr/v2.zarr/blosc-zstd",
                "zarr/v2.zarr/lz4",
                "zarr/v2.zarr/zlib",
                "zarr/v2.zarr/missing",
                "arrow/java-lz4.arrow",
                "arrow/java-zstd.arrow",
                "numpy/deflated.npz"
            })
    void aDamagedArrayIsDecodedOrRefused(String name) throws IOException {
        Path copy = folder.resolve(Path.of(name).getFileName());
        List<Path> files = copied(Real.file(name), copy);
        Random random = new Random(name.hashCode());
        int refused = 0;
        for (int i = 0; i < MUTANTS; i++) {
            Path file = files.get(random.nextInt(files.size()));
            byte[] valid = Files.readAllBytes(file);
            Files.write(file, MutatedFilesTest.mutant(valid, random));
            refused += refuses(copy, i) ? 1 : 0;
            Files.write(file, valid);
        }
        assertThat(refused).as("of %s", MUTANTS).isBetween(MUTANTS / 20, MUTANTS);
        assertThat(refuses(copy, MUTANTS)).as("the valid one").isFalse();
    }

    static List<Path> copied(Path from, Path to) throws IOException {
        try (Stream<Path> all = Files.walk(from)) {
            for (Path path : all.toList()) {
                Path copy = to.resolve(from.relativize(path).toString());
                if (Files.isDirectory(path)) {
                    Files.createDirectories(copy);
                } else {
                    Files.copy(path, path.equals(from) ? to : copy);
                }
            }
        }
        try (Stream<Path> all = Files.walk(to)) {
            return all.filter(Files::isRegularFile).sorted().toList();
        }
    }

    private static boolean refuses(Path path, int mutant) {
        try {
            for (Array array : FormatReader.of(path).read(path, Set.of()).arrays()) {
                if (!(array.data() instanceof Array.Data.Chunked) || array.bytes() > 1 << 20) {
                    continue; // a shape that became huge is not loaded
                }
                for (Assembly.Slab slab : Assembly.slabs(ChunkWindow.all(array), 1, 1 << 20)) {
                    slab.read();
                }
            }
            return false;
        } catch (MalformedFileException | IllegalArgumentException | IOException e) {
            return true;
        } catch (RuntimeException | Error e) {
            return fail("mutant " + mutant, e);
        }
    }
}
