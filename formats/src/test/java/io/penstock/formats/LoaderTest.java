// SPDX-License-Identifier: Apache-2.0
package io.penstock.formats;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.Backend;
import io.penstock.Backends;
import io.penstock.ClosedException;
import io.penstock.Completion;
import io.penstock.DeviceBuffer;
import io.penstock.FileOption;
import io.penstock.StorageFile;
import io.penstock.Transfer;
import io.penstock.TransferListener;
import io.penstock.TransferPath;
import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.NoSuchElementException;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import reactor.core.Disposable;
import reactor.core.Disposables;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.test.StepVerifier;

/** The loader over host memory, held against the files as the JDK reads them. */
class LoaderTest {

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

    static <T> T get(Mono<T> mono) {
        return Objects.requireNonNull(mono.block());
    }

    static byte[] bytes(DeviceArray array) {
        ByteBuffer bytes = ByteBuffer.allocate(Math.toIntExact(array.bytes()));
        get(array.region().buffer().download(array.region().offset(), bytes));
        return bytes.array();
    }

    /** Writes a safetensors file of arrays of those lengths. */
    private Path model(String name, int... lengths) throws IOException {
        List<Array> arrays = new ArrayList<>();
        for (int i = 0; i < lengths.length; i++) {
            arrays.add(SafetensorsFile.bytes("a" + i, lengths[i]));
        }
        return SafetensorsFile.write(folder.resolve(name), arrays);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "model.safetensors",
                "small.safetensors",
                "sharded.safetensors.index.json",
                "model.gguf",
                "parts-00001-of-00003.gguf"
            })
    void everyArrayArrivesAsItIsInTheFileAndAligned(String name) throws IOException {
        ArrayFile file = get(Formats.read(Real.file(name)));
        for (Loader loader : List.of(Loader.of(backend), Loader.of(backend).bufferPerArray())) {
            try (LoadedArrays loaded = get(loader.load(Real.file(name)))) {
                assertThat(loaded.arrays()).hasSameSizeAs(file.arrays());
                assertThat(loaded.bytes()).isEqualTo(file.bytes());
                assertThat(loaded.paths()).containsExactly(TransferPath.HOST);
                for (Array array : file.arrays()) {
                    DeviceArray found = loaded.get(array.name());
                    assertThat(bytes(found)).as(array.name()).isEqualTo(Real.bytes(array));
                    assertThat(found.shape()).isEqualTo(array.shape());
                    assertThat(found.type()).isEqualTo(array.type());
                    assertThat((found.region().buffer().nativeHandle()
                                            + found.region().offset())
                                    % Loader.ALIGNMENT)
                            .as(array.name())
                            .isZero();
                }
            }
        }
    }

    @Test
    void arraysInAnyOrderArePlacedInThatOfTheirFiles() throws IOException {
        List<Array> first =
                get(Formats.read(model("first.safetensors", 1000, 300, 7))).arrays();
        List<Array> other = get(Formats.read(SafetensorsFile.write(
                        folder.resolve("other.safetensors"),
                        List.of(SafetensorsFile.bytes("b0", 5), SafetensorsFile.bytes("b1", 600)))))
                .arrays();
        List<Array> mixed = List.of(other.get(1), first.get(2), first.get(0), other.get(0), first.get(1));
        ArrayFile file = new ArrayFile(Path.of("mixed"), "safetensors", Map.of(), mixed);
        LoadPlan plan = Loader.of(backend).explain(file);
        assertThat(plan.arrays())
                .extracting(placement -> placement.array().name())
                .containsExactly("b0", "b1", "a0", "a1", "a2");
        assertThat(plan.arrays()).extracting(LoadPlan.Placement::offset).containsExactly(0L, 256L, 1024L, 2048L, 2560L);
        assertThat(plan.buffers()).containsExactly(2567L);
        assertThat(plan.transfers()).isEqualTo(2);
        for (Loader loader : List.of(Loader.of(backend), Loader.of(backend).bufferPerArray())) {
            try (LoadedArrays loaded = get(loader.load(file))) {
                assertThat(loaded.arrays()).extracting(DeviceArray::name).containsExactly("b0", "b1", "a0", "a1", "a2");
                for (Array array : mixed) {
                    assertThat(bytes(loaded.get(array.name()))).as(array.name()).isEqualTo(Real.bytes(array));
                }
            }
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"model.safetensors", "sharded.safetensors.index.json", "parts-00001-of-00003.gguf"})
    void sharedLoadsHaveAllArraysEach(String name) throws IOException {
        ArrayFile file = get(Formats.read(Real.file(name)));
        SharedLoad shared = new SharedLoad();
        try (Backend other = Backends.open("host")) {
            Loader first = Loader.of(backend).shared(shared).transferBytes(4096);
            Loader second = Loader.of(other).shared(shared).transferBytes(4096);
            List<LoadedArrays> both = get(Flux.merge(first.load(Real.file(name)), second.load(Real.file(name)))
                    .collectList());
            assertThat(both).hasSize(2);
            for (LoadedArrays loaded : both) {
                for (Array array : file.arrays()) {
                    assertThat(bytes(loaded.get(array.name()))).as(array.name()).isEqualTo(Real.bytes(array));
                }
                loaded.close();
            }
        }
    }

    /** The second joins when the first begins: alone, the first may have read all before. */
    @Test
    void sharedLoadsReadEachByteOnce() throws IOException {
        Path model = model("shared.safetensors", 100_000, 3, 50_000);
        SharedLoad shared = new SharedLoad();
        AtomicLong read = new AtomicLong();
        AtomicReference<Mono<Completion>> second = new AtomicReference<>();
        try (Backend other = Backends.open("host");
                StorageFile here = get(backend.openFile(model));
                StorageFile there = get(other.openFile(model));
                DeviceBuffer first = get(backend.allocate(150_000));
                DeviceBuffer copy = get(other.allocate(150_000))) {
            Disposable counting = Disposables.composite(
                    listen(backend, read, () -> {
                        if (second.get() == null) {
                            Transfer again = Transfer.read(there.region(0, 150_000), copy.all());
                            second.set(shared.join(other, model, 0, again).cache());
                            second.get().subscribe();
                        }
                    }),
                    listen(other, read, () -> {}));
            get(shared.join(backend, model, 0, Transfer.read(here.region(0, 150_000), first.all())));
            assertThat(get(second.get()).bytes()).isEqualTo(150_000);
            counting.dispose();
            assertThat(read.get()).isEqualTo(150_000);
            ByteBuffer copied = ByteBuffer.allocate(150_000);
            get(copy.download(0, copied));
            assertThat(copied.array()).isEqualTo(Arrays.copyOf(Files.readAllBytes(model), 150_000));
        }
    }

    private static Disposable listen(Backend backend, AtomicLong bytes, Runnable start) {
        return backend.listen(new TransferListener() {
            @Override
            public void started(Transfer transfer) {
                start.run();
            }

            @Override
            public void ended(Completion end) {
                boolean copy =
                        end.transfer().fileRegion(0).file().path().toString().startsWith("buffer of");
                bytes.addAndGet(copy ? 0 : end.bytes());
            }
        });
    }

    @Test
    void arraysAreChosenByNamesAndPatterns() {
        Path model = Real.file("model.gguf");
        try (LoadedArrays loaded =
                get(Loader.of(backend).arrays("q?_0.*", "ints").load(model))) {
            assertThat(loaded.arrays())
                    .extracting(DeviceArray::name)
                    .containsExactlyInAnyOrder("q4_0.weight", "q8_0.weight", "ints");
            assertThat(loaded.find("norm.weight")).isEmpty();
            assertThatThrownBy(() -> loaded.get("norm.weight"))
                    .isInstanceOf(NoSuchElementException.class)
                    .hasMessageContaining("norm.weight");
        }
        StepVerifier.create(Loader.of(backend).arrays("q*", "nothing*").load(model))
                .expectErrorMessage("no array has the name nothing* in [" + model + "]")
                .verify();
    }

    @Test
    void neighboursAreReadAsOneWhereTheirPlacesPermit() throws IOException {
        Loader loader = Loader.of(backend);
        LoadPlan even = loader.explain(get(Formats.read(model("even.safetensors", 512, 256, 1024, 256))));
        assertThat(even.toString())
                .isEqualTo("4 arrays of 2048 bytes, in 1 buffers of 2048 bytes; 1 transfers of 1 pieces, from 1 files");
        LoadPlan odd = loader.explain(get(Formats.read(model("odd.safetensors", 512, 3, 256, 256))));
        assertThat(odd.toString())
                .isEqualTo("4 arrays of 1027 bytes, in 1 buffers of 1280 bytes; 1 transfers of 2 pieces, from 1 files");
        assertThat(odd.arrays()).extracting(LoadPlan.Placement::offset).containsExactly(0L, 512L, 768L, 1024L);
    }

    @Test
    void manySmallArraysAreFewTransfers() throws IOException {
        int[] lengths = new int[3000];
        Arrays.setAll(lengths, i -> 100 + i % 7);
        Path model = model("many.safetensors", lengths);
        assertThat(get(Loader.of(backend).explain(model)).transfers()).isEqualTo(1);
        assertLoaded(model, Loader.of(backend));
        assertLoaded(model, Loader.of(backend).transferBytes(4096));
    }

    @Test
    void largeArraysAreCutIntoTransfers() throws IOException {
        Path model = model("large.safetensors", 1_000_000, 5, 300_001);
        Loader loader = Loader.of(backend).transferBytes(65_536);
        assertThat(get(loader.explain(model)).transfers()).isBetween(20, 25);
        assertLoaded(model, loader);
        assertLoaded(model, loader.bufferPerArray());
        assertLoaded(model, Loader.of(backend).fileOptions(FileOption.READ, FileOption.IMMUTABLE));
    }

    private static void assertLoaded(Path path, Loader loader) throws IOException {
        try (LoadedArrays loaded = get(loader.load(path))) {
            for (Array array : get(Formats.read(path)).arrays()) {
                assertThat(bytes(loaded.get(array.name()))).as(array.name()).isEqualTo(Real.bytes(array));
            }
        }
    }

    @Test
    void severalFilesAreOneLoad() throws IOException {
        Path first = Real.file("model.gguf");
        Path second = Real.file("small.safetensors");
        try (LoadedArrays loaded = get(Loader.of(backend).load(first, second))) {
            assertThat(loaded.arrays()).hasSize(9 + 4);
        }
        String name = get(Formats.read(first)).arrays().get(0).name();
        StepVerifier.create(Loader.of(backend).load(first, first))
                .verifyErrorSatisfies(e -> assertThat(e)
                        .isInstanceOf(IllegalArgumentException.class)
                        .hasMessage("two arrays have the name " + name + " in [" + first + ", " + first + "]"));
    }

    @Test
    void theBudgetIsCheckedBeforeAnythingIsAllocated() throws IOException {
        Path model = model("odd.safetensors", 512, 3, 256);
        get(Loader.of(backend).budget(1024).load(model)).close();
        StepVerifier.create(Loader.of(backend).budget(1023).load(model))
                .expectErrorMessage("3 arrays need 1024 bytes of device memory, more than the budget of 1023")
                .verify();
        String name = get(Formats.read(model)).arrays().get(0).name();
        StepVerifier.create(Loader.of(backend).arrays(name).budget(1).load(model))
                .expectErrorMessage("1 array needs 512 bytes of device memory, more than the budget of 1")
                .verify();
    }

    @Test
    void progressEndsWithEverythingDone() throws IOException {
        Path model = model("large.safetensors", 1_000_000, 5, 300_001);
        Load load = Loader.of(backend).transferBytes(65_536).prepare(model);
        List<LoadProgress> steps = new ArrayList<>();
        load.progress().subscribe(steps::add);
        get(load.arrays()).close();
        assertThat(steps).hasSizeGreaterThan(10).isSortedAccordingTo((a, b) -> Long.compare(a.done(), b.done()));
        LoadProgress last = steps.get(steps.size() - 1);
        assertThat(last.done()).isEqualTo(last.total()).isGreaterThanOrEqualTo(1_300_006);
        StepVerifier.create(load.progress()).expectNext(last).verifyComplete();
        StepVerifier.create(load.arrays())
                .expectErrorMessage("a load runs once")
                .verify();
    }

    @Test
    void whatCannotBeReadIsAnError() throws IOException {
        Loader loader = Loader.of(backend);
        StepVerifier.create(loader.load(folder.resolve("none.safetensors"))).verifyError(NoSuchFileException.class);
        StepVerifier.create(loader.load(Files.write(folder.resolve("a.safetensors"), new byte[9])))
                .verifyError(MalformedFileException.class);
        Path model = model("b.safetensors", 1000);
        ArrayFile read = get(Formats.read(model));
        Files.write(model, new byte[500], StandardOpenOption.TRUNCATE_EXISTING);
        StepVerifier.create(loader.load(read)).verifyError(EOFException.class);
        Files.delete(model);
        StepVerifier.create(loader.load(read)).verifyError(NoSuchFileException.class);
    }

    @Test
    void closingFreesAllArrays() {
        LoadedArrays loaded = get(Loader.of(backend).load(Real.file("model.gguf")));
        DeviceArray array = loaded.get("ints");
        loaded.close();
        loaded.close();
        assertThatThrownBy(() -> bytes(array)).isInstanceOf(ClosedException.class);
    }

    @Test
    void aFileWithoutBytesIsLoadedToo() throws IOException {
        try (LoadedArrays loaded = get(Loader.of(backend).load(model("empty.safetensors", 0, 0)))) {
            assertThat(loaded.get("a1").bytes()).isZero();
        }
        try (LoadedArrays loaded = get(Loader.of(backend).bufferPerArray().load(model("none.safetensors")))) {
            assertThat(loaded.arrays()).isEmpty();
        }
    }
}
