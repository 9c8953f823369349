// SPDX-License-Identifier: Apache-2.0
package io.penstock.samples;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationHandler;
import io.micrometer.observation.ObservationRegistry;
import io.micrometer.observation.ObservationView;
import io.penstock.Backend;
import io.penstock.Backends;
import io.penstock.Completion;
import io.penstock.Failure;
import io.penstock.TransientStorageException;
import io.penstock.formats.LoadedArrays;
import io.penstock.formats.Loader;
import io.penstock.tck.Require;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.zip.CRC32;
import java.util.zip.InflaterInputStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.BeforeParameterizedClassInvocation;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.MethodSource;
import reactor.core.publisher.Mono;

/** Runs the programs on every backend that is there, and holds what they give against the file. */
@ParameterizedClass
@MethodSource("backends")
class ProgramsTest {

    private static final int BYTES = 9_000_001; // three chunks of a stream, nine regions

    @TempDir
    Path folder;

    @Parameter
    private String name;

    private byte[] data;
    private Path file;
    private Backend backend;
    private Map<String, Long> before;

    static List<String> backends() {
        return Backends.list().stream()
                .filter(listing -> !listing.name().equals("nvme")) // it has no files of a file system
                .filter(listing -> listing.availability().available()
                        || Require.isRequired(listing.name().replace("-ssg", "")))
                .map(Backends.Listing::name)
                .toList();
    }

    /** What a driver keeps for the process is no leak. */
    @BeforeParameterizedClassInvocation
    static void startDriver(String name) {
        Backends.open(name).close();
    }

    /** Returns whether the program needs memory that the processor can address, and was refused for lack of it. */
    private boolean isRefused(Mono<?> program) {
        boolean visible = backend.capabilities().hostVisible();
        if (!visible) {
            assertThatThrownBy(program::block)
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("address");
        }
        return !visible;
    }

    @BeforeEach
    void open() throws IOException {
        data = new byte[BYTES];
        new Random(1).nextBytes(data);
        file = Files.write(folder.resolve("file"), data);
        before = HostProbe.of(folder).count(); // before it is open: its threads start when they are needed
        backend = Backends.open(name);
    }

    @AfterEach
    void closeAndLookForLeaks() {
        backend.close();
        HostProbe.of(folder).awaitNoMoreThan(before, Duration.ofSeconds(20));
    }

    private Path model() throws IOException {
        byte[] header = ("{\"norm\":{\"dtype\":\"F32\",\"shape\":[3],\"data_offsets\":[0,12]},"
                        + "\"o_proj\":{\"dtype\":\"U8\",\"shape\":[4,10],\"data_offsets\":[12,52]}}")
                .getBytes(StandardCharsets.UTF_8);
        ByteBuffer bytes = ByteBuffer.allocate(8 + header.length + 52).order(ByteOrder.LITTLE_ENDIAN);
        return Files.write(
                folder.resolve("model.safetensors"),
                bytes.putLong(header.length).put(header).array());
    }

    @Test
    void loadModel() throws IOException {
        Path model = model();
        Loader loader = Loader.of(backend);
        assertThat(LoadModel.describe(loader, model).block())
                .isEqualTo("norm F32 [3] at 0\no_proj U8 [4, 10] at 256\n52 bytes");
        assertThat(LoadModel.describe(LoadModel.part(loader, 1, 2), model).block())
                .isEqualTo("norm F32 [3] at 0\no_proj U8 [4, 5] at 256\n32 bytes");
        Path copy = folder.resolve("copy.safetensors");
        try (LoadedArrays loaded = loader.load(model).block()) {
            assertThat(LoadModel.checkpoint(backend, loaded, copy).block()).isEqualTo(Files.size(copy));
        }
        assertThat(LoadModel.describe(loader, copy).block()).endsWith("52 bytes");
    }

    @Test
    void readFile() {
        assertThat(ReadFile.read(backend, file).block()).matches(BYTES + " bytes, path [A-Z]+");
        assertThatThrownBy(() -> ReadFile.read(backend, folder.resolve("none")).block())
                .hasCauseInstanceOf(NoSuchFileException.class);
    }

    @Test
    void gatherBlocks() {
        ByteBuffer records = GatherBlocks.gather(backend, file, 2000, 3, 3, 17).block();
        ByteBuffer expected = ByteBuffer.allocate(4 * 4096);
        for (int record : new int[] {2000, 3, 3, 17}) {
            expected.put(data, record * 4096, 4096);
        }
        assertThat(records).isEqualTo(expected.flip());
    }

    @Test
    void fillGpus() {
        try (Backend other = Backends.open(name)) {
            List<Completion> ends =
                    FillGpus.fill(file, backend, other).collectList().block();
            assertThat(ends)
                    .hasSize(2)
                    .allSatisfy(end -> assertThat(end.bytes()).isEqualTo(BYTES));
        }
    }

    /** VendorProgramsTest has two processes. */
    @Test
    void loadByProcesses() throws IOException {
        Path model = model();
        Mono<LoadedArrays> load = LoadByProcesses.load(backend, model, folder.resolve("meeting"), 1);
        if (name.equals("cufile")) {
            try (LoadedArrays loaded = load.block()) {
                assertThat(loaded.arrays()).hasSize(2);
            }
        } else {
            assertThatThrownBy(load::block)
                    .isInstanceOf(UnsupportedOperationException.class)
                    .hasMessageStartingWith(
                            "processes cannot share a read into memory that other processes cannot open: ");
        }
        assertThat(folder).isDirectoryNotContaining("glob:**/meeting*");
    }

    @Test
    void readRegions() {
        assertThat(ReadRegions.read(backend, file).block()).isEqualTo(BYTES);
    }

    @Test
    void checksum() {
        CRC32 sum = new CRC32();
        sum.update(data);
        Mono<Long> twice = Checksum.of(backend, file);
        if (isRefused(twice)) {
            return;
        }
        assertThat(twice.block()).isEqualTo(sum.getValue());
        assertThat(twice.block()).as("of another subscription").isEqualTo(sum.getValue());
    }

    @Test
    void traceStream() {
        List<String> ended = new CopyOnWriteArrayList<>();
        ObservationRegistry registry = ObservationRegistry.create();
        registry.observationConfig().observationHandler(new ObservationHandler<>() {
            @Override
            public boolean supportsContext(Observation.Context context) {
                return true;
            }

            @Override
            public void onStop(Observation.Context context) {
                ObservationView parent = context.getParentObservation();
                ended.add(context.getName()
                        + (parent == null
                                ? ""
                                : " in " + parent.getContextView().getName()));
            }
        });
        assertThat(TraceStream.length(backend, file, registry).block()).isEqualTo(BYTES);
        assertThat(ended).containsExactly("chunk in stream", "chunk in stream", "chunk in stream", "stream");
    }

    @Test
    void findByte() throws IOException {
        byte[] zeros = new byte[BYTES];
        Path rare = Files.write(folder.resolve("rare"), zeros);
        if (isRefused(FindByte.find(backend, rare, (byte) 7))) {
            return;
        }
        assertThat(FindByte.find(backend, rare, (byte) 7).block()).isNull();
        zeros[5_000_000] = 7;
        zeros[8_999_999] = 7;
        Files.write(rare, zeros);
        assertThat(FindByte.find(backend, rare, (byte) 7).block()).isEqualTo(5_000_000);
    }

    @Test
    void readInTime() {
        assertThat(ReadInTime.read(backend, file, Duration.ofMinutes(1)).block())
                .isEqualTo(BYTES + " bytes");
        String late;
        do { // the I/O queue may be faster than its clock
            late = ReadInTime.read(backend, file, Duration.ofNanos(1)).block();
        } while (late.equals(BYTES + " bytes"));
        assertThat(late)
                .matches("(NOT_STARTED|PARTIAL|UNKNOWN), \\d+ bytes: read of " + BYTES
                        + " bytes at 0 of .*file exceeded its deadline.*");
    }

    @Test
    void saveBuffer() throws IOException {
        Path saved = folder.resolve("saved");
        Files.write(saved, new byte[BYTES + 1]); // which is cut
        assertThat(SaveBuffer.save(backend, ByteBuffer.wrap(data), saved).block())
                .isEqualTo(BYTES);
        assertThat(Arrays.equals(Files.readAllBytes(saved), data)).isTrue();
    }

    @Test
    void compressFile() throws IOException {
        Path compressed = folder.resolve("compressed");
        long length = CompressFile.compress(backend, file, compressed).block();
        assertThat(compressed).hasSize(length);
        try (InflaterInputStream inflated = new InflaterInputStream(Files.newInputStream(compressed))) {
            assertThat(inflated.readAllBytes()).isEqualTo(data);
        }
    }

    @Test
    void textFiles() throws IOException {
        Path log = folder.resolve("log");
        assertThat(TextFiles.append(backend, log, "one word").block()).isEqualTo(9);
        assertThat(TextFiles.append(backend, log, "two").block()).isEqualTo(4);
        assertThat(TextFiles.append(backend, log, "three words").block()).isEqualTo(12);
        assertThat(log).hasContent("one word\ntwo\nthree words");
        assertThat(TextFiles.find(backend, log, "word").collectList().block())
                .containsExactly("one word", "three words");
        Path to = Files.createDirectory(folder.resolve("to"));
        List<Path> files = new ArrayList<>();
        for (int i = 0; i < 100; i++) {
            files.add(Files.writeString(folder.resolve("" + i), "x".repeat(100 * i)));
        }
        assertThat(TextFiles.copy(backend, files, to).collectList().block()).hasSize(100);
        for (int i = 0; i < 100; i++) {
            assertThat(to.resolve("" + i)).hasContent("x".repeat(100 * i));
        }
    }

    @Test
    void readBlocking() throws IOException, InterruptedException {
        assertThat(ReadBlocking.read(backend.blocking(), file)).isEqualTo(BYTES);
        assertThat(ReadBlocking.size(backend, file).join()).isEqualTo(BYTES);
        assertThatThrownBy(() -> ReadBlocking.read(backend.blocking(), folder.resolve("missing")))
                .isInstanceOf(NoSuchFileException.class);
    }

    @Test
    void retryRead() {
        assertThat(RetryRead.read(backend, file)
                        .contextWrite(context -> context.put("user", "alice"))
                        .block())
                .isEqualTo("alice read " + BYTES + " bytes");
        AtomicInteger attempts = new AtomicInteger();
        TransientStorageException full = new TransientStorageException("the queue is full", Failure.NOT_STARTED, null);
        Mono<Integer> third = Mono.fromCallable(() -> {
            if (attempts.incrementAndGet() < 3) {
                throw full;
            }
            return attempts.get();
        });
        assertThat(RetryRead.patiently(third, "a read").block()).isEqualTo(3);
        assertThatThrownBy(() -> RetryRead.patiently(Mono.error(full), "a read").block())
                .isSameAs(full)
                .satisfies(e -> assertThat(Arrays.toString(e.getSuppressed())).contains("a read"));
        assertThat(RetryRead.remedy(full)).isEqualTo("try again later: the queue is full");
    }

    @Test
    void readWithMutiny() {
        assertThat(ReadWithMutiny.read(backend, file).await().atMost(Duration.ofSeconds(20)))
                .isEqualTo(BYTES);
        assertThat(ReadWithMutiny.lengths(backend, file)
                        .select()
                        .first(2)
                        .collect()
                        .asList()
                        .await()
                        .atMost(Duration.ofSeconds(20)))
                .as("two of nine chunks, which cancels the others")
                .containsExactly(1L << 20, 1L << 20);
        assertThatThrownBy(() -> ReadWithMutiny.read(backend, folder.resolve("missing"))
                        .await()
                        .indefinitely())
                .hasCauseInstanceOf(NoSuchFileException.class);
    }

    @Test
    void generateFile() throws IOException {
        Path squares = folder.resolve("squares");
        int count = 300_000; // not a whole number of chunks
        if (isRefused(GenerateFile.squares(backend, squares, count))) {
            return;
        }
        assertThat(GenerateFile.squares(backend, squares, count).block()).isEqualTo(8L * count);
        ByteBuffer written = ByteBuffer.wrap(Files.readAllBytes(squares)).order(ByteOrder.nativeOrder());
        for (long number = 0; number < count; number++) {
            assertThat(written.getLong()).isEqualTo(number * number);
        }
        assertThat(written.hasRemaining()).isFalse();
    }

    @Test
    void copyBehindFence() throws IOException {
        Path copy = folder.resolve("copy");
        assertThat(CopyBehindFence.copy(backend, file, copy).block()).isEqualTo(BYTES);
        assertThat(Arrays.equals(Files.readAllBytes(copy), data)).isTrue();
    }

    @Test
    void explainRead() {
        assertThat(ExplainRead.explain(backend, file).block()).matches("path [A-Z]+ in .+");
    }

    @Test
    void listBackends() {
        assertThat(ListBackends.list())
                .hasSize(6)
                .anyMatch(line -> line.startsWith("host: ") && !line.contains("remedy"));
    }
}
