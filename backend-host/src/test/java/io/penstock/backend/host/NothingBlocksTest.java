// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.host;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.Backend;
import io.penstock.Backends;
import io.penstock.Completion;
import io.penstock.DeviceBuffer;
import io.penstock.FileOption;
import io.penstock.Options;
import io.penstock.StorageFile;
import io.penstock.StreamPlan;
import io.penstock.SubmitOptions;
import io.penstock.Transfer;
import io.penstock.WritePlan;
import io.penstock.engine.kit.ffi.LibC;
import io.penstock.engine.kit.remote.RemoteProvider;
import io.penstock.engine.options.HostIo;
import io.penstock.engine.options.HostOptions;
import io.penstock.engine.spi.AsyncFile;
import io.penstock.tck.Require;
import java.io.IOException;
import java.net.URI;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.ProviderNotFoundException;
import java.time.Duration;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import reactor.blockhound.BlockHound;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/**
 * No blocking call on parallel, I/O queue or subscriber threads, as BlockHound sees them. In a JVM of its own: what
 * BlockHound changes stays changed.
 *
 * <p>Everything is subscribed to on a parallel thread.
 */
@Tag("blockhound")
class NothingBlocksTest {

    private static final Duration PATIENCE = Duration.ofSeconds(30);
    private static final int BYTES = 1 << 20;
    private static @Nullable String unavailable;

    @TempDir
    Path folder;

    @BeforeAll
    static void install() {
        unavailable = Blocking.watch();
    }

    @BeforeEach
    void watched() {
        Require.backend("blockhound", unavailable);
        Blocking.seen();
    }

    @AfterEach
    void nothingBlocked() {
        assertThat(Blocking.seen())
                .as("blocking calls on threads that must not block")
                .isEmpty();
    }

    private static <T> T get(Mono<T> mono) {
        return Objects.requireNonNull(mono.subscribeOn(Schedulers.parallel()).block(PATIENCE), "nothing came");
    }

    private static void run(Mono<?> mono) {
        mono.subscribeOn(Schedulers.parallel()).block(PATIENCE);
    }

    private static Backend open(HostIo io) {
        if (io == HostIo.URING) {
            HostSubject.uring(); // or skip
        }
        return Backends.open("host", Options.none().with(HostOptions.IO, io));
    }

    private Path file(String name, int bytes) throws IOException {
        return Files.write(folder.resolve(name), new byte[bytes]);
    }

    /**
     * Reads a file by the pool, with BlockHound as docs/troubleshooting.md has it; for a JVM that has not loaded JNA.
     */
    public static void main(String[] arguments) {
        String pool = "io.penstock.engine.host.queue.ChannelQueue";
        BlockHound.install(builder -> builder.allowBlockingCallsInside("io.penstock.engine.spi.Wakeup", "await")
                .allowBlockingCallsInside(pool, "enqueue")
                .allowBlockingCallsInside(pool, "cancel"));
        try (Backend backend = open(HostIo.POOL)) {
            System.out.println(
                    "read " + backend.read(Path.of(arguments[0])).count().block(PATIENCE));
        }
    }

    @Tag("slow")
    @Test
    void theFirstBackendOfAProcessLoadsJnaOnTheThreadThatOpensIt() throws Exception {
        Path log = folder.resolve("log");
        int code = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-XX:+AllowRedefinitionToAddDeleteMethods",
                        "-cp",
                        System.getProperty("surefire.test.class.path", System.getProperty("java.class.path")),
                        NothingBlocksTest.class.getName(),
                        file("first", 1000).toString())
                .redirectErrorStream(true)
                .redirectOutput(log.toFile())
                .start()
                .waitFor();
        assertThat(log).content().contains("read 1").doesNotContain("BlockingOperationError");
        assertThat(code).isZero();
    }

    @Test
    void aNativeCallThatBlocksIsSeen() {
        run(Mono.fromRunnable(() -> LibC.fsync(-1)));
        assertThat(Blocking.seen()).singleElement().asString().contains("fsync").contains("parallel");
    }

    @ParameterizedTest
    @EnumSource(HostIo.class)
    void transfersDoNotBlock(HostIo io) throws Exception {
        Path path = file("transfers", BYTES);
        try (Backend backend = open(io)) {
            StorageFile file = get(backend.openFile(path, FileOption.READ, FileOption.WRITE));
            DeviceBuffer buffer = get(backend.allocate(BYTES));
            get(buffer.upload(0, ByteBuffer.allocate(BYTES)));
            Flux<Transfer> blocks = Flux.range(0, 256)
                    .map(block -> Transfer.read(file.region(block * 4096L, 4096), buffer.region(block * 4096L, 4096)));
            for (SubmitOptions options :
                    Set.of(SubmitOptions.DEFAULT, SubmitOptions.DEFAULT.ordered(), SubmitOptions.DEFAULT.direct())) {
                assertThat(get(backend.submit(blocks, options).count())).isEqualTo(256);
            }
            get(backend.submit(Transfer.write(buffer.all(), file.all())));
            run(file.sync());
            get(backend.enqueue(Transfer.read(file.all(), buffer.all()).ordered("key"))
                    .flatMap(fence -> fence.outcome()));
            run(file.preallocate(2 * BYTES).onErrorComplete()); // which file channels cannot
            run(file.truncate(BYTES));
            run(backend.submit(Transfer.read(file.all(), buffer.all()))
                    .timeout(Duration.ofNanos(1))
                    .onErrorComplete());
            buffer.close();
            file.close();
            run(backend.closeLater());
        }
    }

    @ParameterizedTest
    @EnumSource(HostIo.class)
    void unalignedWritesToAFileOpenedDirectDoNotBlock(HostIo io) throws Exception {
        Path path = file("unaligned", BYTES);
        try (Backend backend = open(io)) {
            StorageFile file = get(backend.openFile(path, FileOption.READ, FileOption.WRITE, FileOption.DIRECT));
            DeviceBuffer buffer = get(backend.allocate(BYTES));
            Flux<Transfer> edges = Flux.range(0, 64)
                    .map(i -> Transfer.write(buffer.region(i * 77L, 1000), file.region(BYTES - 500 + i * 999L, 1000)));
            assertThat(get(backend.submit(edges).map(Completion::bytes).reduce(Long::sum)))
                    .isEqualTo(64_000);
            assertThat(file.size()).isEqualTo(BYTES - 500 + 63 * 999 + 1000);
            run(file.sync());
        }
    }

    /** A module that opens URIs, if there is one, is looked up in folders and jars. */
    @Test
    void theOpeningOfAUriDoesNotBlockTheCaller() {
        try (Backend backend = Backends.open("host")) {
            Mono<StorageFile> none = Mono.defer(() -> backend.openFile(URI.create("gopher://host/file")));
            assertThat(get(none.then(Mono.<Throwable>empty()).onErrorResume(Mono::just)))
                    .isInstanceOf(ProviderNotFoundException.class);
            Mono<StorageFile> opened = Mono.defer(() -> backend.openFile(URI.create("still://host/file")));
            assertThat(get(opened.then(Mono.<Throwable>empty()).onErrorResume(Mono::just)))
                    .isInstanceOf(NoSuchFileException.class);
        }
    }

    /** Has no file. */
    public static final class Still implements RemoteProvider {

        @Override
        public Set<String> schemes() {
            return Set.of("still");
        }

        @Override
        public AsyncFile open(URI uri, Set<FileOption> fileOptions, Options options) throws IOException {
            throw new NoSuchFileException(uri.toString());
        }
    }

    @ParameterizedTest
    @EnumSource(HostIo.class)
    void streamsAndWritesDoNotBlock(HostIo io) throws Exception {
        Path path = file("stream", 4 * BYTES + 1);
        try (Backend backend = open(io)) {
            assertThat(get(backend.stream(StreamPlan.of(path).chunkBytes(BYTES), chunk -> Mono.just(chunk.length()))
                            .reduce(Long::sum)))
                    .isEqualTo(4 * BYTES + 1);
            run(backend.stream(StreamPlan.of(path).chunkBytes(4096), chunk -> Mono.just(chunk.index()))
                    .take(2)
                    .then());
            WritePlan plan =
                    WritePlan.to(folder.resolve("written")).chunkBytes(BYTES).sync();
            long[] chunks = new long[1];
            assertThat(get(backend.write(
                            plan, chunk -> chunks[0]++ < 4 ? Mono.just(chunk.length()) : Mono.<Long>empty())))
                    .isPositive();
            run(backend.closeLater());
        }
    }
}
