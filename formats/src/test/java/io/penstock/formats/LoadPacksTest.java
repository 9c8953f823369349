// SPDX-License-Identifier: Apache-2.0
package io.penstock.formats;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.Backend;
import io.penstock.Backends;
import io.penstock.FileOption;
import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SeekableByteChannel;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Small files of a load are read packed, and what is wrong with one of them is told as it is of a file by itself. */
class LoadPacksTest {

    private static final int CHUNKS = 40;
    private static final int CHUNK_BYTES = 500;

    @TempDir
    Path folder;

    private final Backend backend = Backends.open("host");
    private final WatchedBackend watched = new WatchedBackend(backend, () -> {});
    private final Random random = new Random(5);

    @AfterEach
    void close() {
        watched.awaitClosed();
        backend.close();
    }

    /** Writes an array of one chunk a row, of bytes that are not encoded. */
    private Path zarr(int chunkBytes) throws IOException {
        Path array = Files.createDirectory(folder.resolve("plain.zarr"));
        Files.writeString(array.resolve(".zarray"), """
                {"zarr_format": 2, "shape": [%d, %d], "chunks": [1, %d], "dtype": "|u1", "compressor": null,
                 "fill_value": 7, "order": "C", "filters": null}
                """.formatted(CHUNKS, chunkBytes, chunkBytes));
        for (int i = 0; i < CHUNKS; i++) {
            byte[] chunk = new byte[chunkBytes];
            random.nextBytes(chunk);
            Files.write(chunk(array, i), chunk);
        }
        return array;
    }

    private static Path chunk(Path array, int row) {
        return array.resolve(row + ".0");
    }

    private static byte[] chunks(Path array) throws IOException {
        ByteArrayOutputStream all = new ByteArrayOutputStream();
        for (int i = 0; i < CHUNKS; i++) {
            all.writeBytes(Files.readAllBytes(chunk(array, i)));
        }
        return all.toByteArray();
    }

    private static ArrayFile read(Path path) {
        return Objects.requireNonNull(Formats.read(path).block());
    }

    private LoadedArrays load(ArrayFile file) {
        return Objects.requireNonNull(Loader.of(watched.proxy()).load(file).block());
    }

    @Test
    void manySmallChunksAreReadPackedWithoutAFileForEach() throws IOException {
        Path array = zarr(CHUNK_BYTES);
        try (LoadedArrays loaded = load(read(array))) {
            assertThat(LoaderTest.bytes(loaded.arrays().get(0))).isEqualTo(chunks(array));
        }
        assertThat(watched.files()).as("files that were opened by themselves").isZero();
    }

    @Test
    void smallShardsAreReadPackedToo() throws IOException {
        List<Path> shards = new ArrayList<>();
        for (int i = 0; i < 20; i++) {
            shards.add(SafetensorsFile.write(
                    folder.resolve("m" + i + ".safetensors"),
                    List.of(SafetensorsFile.bytes("a" + i, 3000 + i), SafetensorsFile.bytes("b" + i, 1 + i))));
        }
        try (LoadedArrays loaded = Objects.requireNonNull(Loader.of(watched.proxy())
                .bufferPerArray()
                .load(shards.toArray(new Path[0]))
                .block())) {
            for (Path shard : shards) {
                for (Array array : read(shard).arrays()) {
                    Extent bytes = (Extent) array.data();
                    byte[] file = Files.readAllBytes(shard);
                    assertThat(LoaderTest.bytes(loaded.get(array.name())))
                            .isEqualTo(Arrays.copyOfRange(file, (int) bytes.offset(), (int) bytes.end()));
                }
            }
        }
        assertThat(watched.files()).isZero();
    }

    /** It was there when the array was listed, so it is not one of those that have the fill value. */
    @Test
    void aChunkThatVanishesFailsTheLoadAsAFileDoes() throws IOException {
        Path array = zarr(CHUNK_BYTES);
        ArrayFile listed = read(array);
        Files.delete(chunk(array, 17));
        assertThatThrownBy(() -> load(listed))
                .hasCauseInstanceOf(NoSuchFileException.class)
                .hasMessageContaining("17.0");
    }

    @Test
    void aChunkThatHasBecomeShorterFailsTheLoad() throws IOException {
        Path array = zarr(CHUNK_BYTES);
        ArrayFile listed = read(array);
        Files.write(chunk(array, 3), new byte[CHUNK_BYTES - 1]);
        assertThatThrownBy(() -> load(listed))
                .hasCauseInstanceOf(EOFException.class)
                .hasMessageContaining("3.0 became shorter");
    }

    /** It is longer than a pack by then, and what is wanted of it is there. */
    @Test
    void aFileThatHasBecomeLargerThanAPackIsReadByItself() throws IOException {
        Path array = zarr(CHUNK_BYTES);
        ArrayFile listed = read(array);
        byte[] all = chunks(array);
        try (SeekableByteChannel longer = Files.newByteChannel(chunk(array, 0), StandardOpenOption.WRITE)) {
            longer.position(9 << 20).write(ByteBuffer.allocate(1));
        }
        try (LoadedArrays loaded = load(listed)) {
            assertThat(LoaderTest.bytes(loaded.arrays().get(0))).isEqualTo(all);
        }
        assertThat(watched.files()).isEqualTo(1);
    }

    @Test
    void largeFilesAndFilesPastThePageCacheAreReadByThemselves() throws IOException {
        Path array = zarr(300 << 10);
        try (LoadedArrays loaded = load(read(array))) {
            assertThat(LoaderTest.bytes(loaded.arrays().get(0))).isEqualTo(chunks(array));
        }
        assertThat(watched.files()).isEqualTo(CHUNKS);
    }

    @Test
    void theOptionsOfTheLoaderAreKept() throws IOException {
        Path array = zarr(CHUNK_BYTES);
        Loader writing = Loader.of(watched.proxy()).fileOptions(FileOption.READ, FileOption.WRITE);
        try (LoadedArrays loaded =
                Objects.requireNonNull(writing.load(read(array)).block())) {
            assertThat(LoaderTest.bytes(loaded.arrays().get(0))).isEqualTo(chunks(array));
        }
        assertThat(watched.files()).isEqualTo(CHUNKS);
    }

    @Test
    void aCancelAtAnySignalFreesThePacks() throws IOException, InterruptedException {
        ArrayFile listed = read(zarr(CHUNK_BYTES));
        int signalsOfAll = Integer.MAX_VALUE;
        for (int cancelAt = 1; cancelAt <= signalsOfAll; cancelAt++) {
            int last = cancelAt;
            AtomicInteger signals = new AtomicInteger();
            AtomicReference<Runnable> cancel = new AtomicReference<>();
            WatchedBackend counting = new WatchedBackend(backend, () -> {
                if (signals.incrementAndGet() == last) {
                    cancel.get().run();
                }
            });
            LoadCancelTest.Owner owner = new LoadCancelTest.Owner();
            cancel.set(owner::cancel);
            Loader.of(counting.proxy()).load(listed).subscribe(owner);
            owner.over.await();
            counting.awaitClosed();
            signalsOfAll = signals.get() < last ? signals.get() : signalsOfAll;
        }
        assertThat(signalsOfAll).as("signals").isGreaterThan(6);
    }
}
