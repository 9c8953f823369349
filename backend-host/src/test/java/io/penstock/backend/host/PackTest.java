// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.host;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.Backend;
import io.penstock.Backends;
import io.penstock.ClosedException;
import io.penstock.DeviceBuffer;
import io.penstock.Options;
import io.penstock.Pack;
import io.penstock.PermanentStorageException;
import io.penstock.engine.options.HostIo;
import io.penstock.engine.options.HostOptions;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Function;
import java.util.stream.Stream;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.reactivestreams.Subscription;
import reactor.core.publisher.BaseSubscriber;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;
import reactor.core.scheduler.Schedulers;
import reactor.test.StepVerifier;

/** Many small files, packed: by io_uring and by threads. */
@Timeout(60)
class PackTest {

    private static final Pack.Plan SMALL = Pack.Plan.DEFAULT.packBytes(64 << 10).inFlight(8);

    @TempDir
    Path folder;

    static Stream<HostIo> variants() {
        return UnstatedLengthTest.variants();
    }

    private static Backend open(HostIo io) {
        return Backends.open("host", Options.none().with(HostOptions.IO, io));
    }

    private static byte[] content(int file) {
        Random random = new Random(file);
        byte[] bytes = new byte[random.nextInt(9001)];
        random.nextBytes(bytes);
        return bytes;
    }

    /** Writes files into a few folders. */
    private List<Path> files(int count) throws IOException {
        List<Path> paths = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            Path in = Files.createDirectories(folder.resolve("folder " + i % 50));
            paths.add(Files.write(in.resolve("file " + i), content(i)));
        }
        return paths;
    }

    private static byte[] bytes(Pack pack, Pack.Entry entry) {
        byte[] bytes = new byte[(int) entry.length()];
        pack.buffer().hostView().orElseThrow().read(entry.offset(), ByteBuffer.wrap(bytes));
        return bytes;
    }

    /** What a pack has of each file, once it is closed. */
    private static final class Got {
        final Path path;
        final byte[] bytes;
        final Exception error;

        Got(Path path, byte[] bytes, Exception error) {
            this.path = path;
            this.bytes = bytes;
            this.error = error;
        }
    }

    private static Flux<Got> take(Pack pack) {
        try (pack) {
            return Flux.fromIterable(pack.entries().stream()
                    .map(entry -> new Got(entry.path(), bytes(pack, entry), entry.error()))
                    .toList());
        }
    }

    /** Waits until nothing is in flight, open or allocated: in vain until the time is over, if something stays. */
    private void assertNothingLeft(Backend backend) {
        while (!isNothingLeft(backend.counters()) || !openFiles().isEmpty()) {
            LockSupport.parkNanos(100_000);
        }
    }

    private static boolean isNothingLeft(Backend.Counters counters) {
        return counters.inFlight() + counters.buffers() + counters.pins() == 0;
    }

    /** Returns which of our files and folders this process has open; none where that cannot be seen. */
    private List<String> openFiles() {
        List<String> open = new ArrayList<>();
        try (Stream<Path> all = Files.list(Path.of("/proc/self/fd"))) {
            for (Path descriptor : all.toList()) {
                try {
                    String path = Files.readSymbolicLink(descriptor).toString();
                    if (path.startsWith(folder.toString())) {
                        open.add(path);
                    }
                } catch (IOException e) {
                    // closed meanwhile
                }
            }
        } catch (IOException e) {
            return List.of();
        }
        return open;
    }

    @ParameterizedTest
    @MethodSource("variants")
    void allBytesOfAllFilesComeInTheOrderOfThePaths(HostIo io) throws IOException {
        List<Path> paths = files(1000);
        try (Backend backend = open(io)) {
            List<Got> got = backend.pack(Flux.fromIterable(paths), SMALL)
                    .concatMap(PackTest::take)
                    .collectList()
                    .block();
            assertThat(got).extracting(each -> each.path).isEqualTo(paths);
            for (int i = 0; i < paths.size(); i++) {
                assertThat(got.get(i).bytes).isEqualTo(content(i));
                assertThat(got.get(i).error).isNull();
            }
            assertNothingLeft(backend);
        }
    }

    @ParameterizedTest
    @MethodSource("variants")
    void whatCannotBeReadIsAnEntryAndNotTheEnd(HostIo io) throws IOException {
        Path good = Files.write(folder.resolve("good"), content(1));
        Path large = Files.write(folder.resolve("large"), new byte[(64 << 10) + 1]);
        Path exact = Files.write(folder.resolve("exact"), new byte[64 << 10]);
        Path absent = folder.resolve("absent");
        Path nowhere = folder.resolve("no folder").resolve("file");
        Path below = good.resolve("file");
        List<Path> paths = List.of(absent, good, folder, large, nowhere, exact, below, good);
        try (Backend backend = open(io)) {
            List<Got> got = backend.pack(Flux.fromIterable(paths), SMALL)
                    .concatMap(PackTest::take)
                    .collectList()
                    .block();
            assertThat(got).extracting(each -> each.path).isEqualTo(paths);
            assertThat(got.get(0).error).isInstanceOf(NoSuchFileException.class).hasMessage(absent.toString());
            assertThat(got.get(1).bytes).isEqualTo(content(1));
            assertThat(got.get(2).error).isInstanceOf(FileSystemException.class).hasMessageContaining("directory");
            assertThat(got.get(3).error)
                    .isInstanceOf(PermanentStorageException.class)
                    .hasMessageContaining("65537 bytes, more than a pack of 65536")
                    .hasMessageContaining("Backend.stream");
            assertThat(got.get(4).error).isInstanceOf(NoSuchFileException.class);
            assertThat(got.get(5).bytes).hasSize(64 << 10);
            assertThat(got.get(6).error).isInstanceOf(FileSystemException.class);
            assertThat(got.get(7).bytes).isEqualTo(content(1));
            assertNothingLeft(backend);
        }
    }

    @ParameterizedTest
    @MethodSource("variants")
    @EnabledOnOs(OS.LINUX)
    void aNamedPipeAndADeviceAreRefusedAndNotWaitedFor(HostIo io) throws Exception {
        Path pipe = folder.resolve("pipe");
        assertThat(new ProcessBuilder("mkfifo", pipe.toString()).start().waitFor())
                .isZero();
        List<Path> paths = List.of(pipe, Path.of("/dev/zero"), Path.of("/dev/tty"), Path.of("/proc/self/status"));
        try (Backend backend = open(io)) {
            List<Got> got = backend.pack(Flux.fromIterable(paths))
                    .concatMap(PackTest::take)
                    .collectList()
                    .block();
            assertThat(got.get(0).error).hasMessageContaining("not a regular file");
            assertThat(got.get(1).error).hasMessageContaining("not a regular file");
            assertThat(got.get(2).error).hasMessageContaining("not a regular file");
            assertThat(new String(got.get(3).bytes, StandardCharsets.UTF_8)).contains("Pid:"); // which states no length
            assertNothingLeft(backend);
        }
    }

    @ParameterizedTest
    @MethodSource("variants")
    void aPackIsBegunWhenItIsRequestedAndFewAreOpen(HostIo io) throws IOException {
        List<Path> paths = files(200);
        try (Backend backend = open(io)) {
            List<Pack> got = new ArrayList<>();
            StepVerifier.create(backend.pack(Flux.fromIterable(paths), SMALL.depth(2)), 0)
                    .then(() -> assertThat(backend.counters().buffers()).isZero())
                    .thenRequest(1)
                    .consumeNextWith(got::add)
                    .thenRequest(Long.MAX_VALUE)
                    .consumeNextWith(got::add)
                    .then(() -> assertThat(backend.counters().buffers()).isEqualTo(2))
                    .then(() -> got.get(0).close())
                    .consumeNextWith(got::add)
                    .then(() -> got.forEach(Pack::close))
                    .thenConsumeWhile(pack -> true, Pack::close)
                    .verifyComplete();
            assertNothingLeft(backend);
        }
    }

    @ParameterizedTest
    @MethodSource("variants")
    void aCancelAtAnyStepLeavesNothing(HostIo io) throws IOException {
        List<Path> paths = files(120);
        try (Backend backend = open(io)) {
            for (int step = 0; step < 120; step++) {
                int last = step;
                AtomicReference<Subscription> cancelled = new AtomicReference<>();
                Flux<Path> cancelling = Flux.fromIterable(paths).doOnNext(path -> {
                    if (path == paths.get(last)) {
                        cancelled.get().cancel();
                    }
                });
                backend.pack(cancelling, SMALL.packBytes(16 << 10))
                        .doOnSubscribe(cancelled::set)
                        .subscribe(Pack::close);
                assertNothingLeft(backend);
            }
        }
    }

    @ParameterizedTest
    @MethodSource("variants")
    void aCancelFromOutsideLeavesNothing(HostIo io) throws IOException {
        List<Path> paths = files(300);
        Random random = new Random(7);
        try (Backend backend = open(io)) {
            for (int i = 0; i < 60; i++) {
                var running = backend.pack(Flux.fromIterable(paths), SMALL).subscribe(Pack::close);
                LockSupport.parkNanos(random.nextInt(2_000_000));
                running.dispose();
                assertNothingLeft(backend);
            }
        }
    }

    @ParameterizedTest
    @MethodSource("variants")
    void aPackThatIsNotDeliveredIsClosed(HostIo io) throws IOException {
        List<Path> paths = files(100);
        try (Backend backend = open(io)) {
            BaseSubscriber<Pack> first = new BaseSubscriber<>() {
                @Override
                protected void hookOnNext(Pack pack) {
                    cancel();
                    pack.close();
                }
            };
            backend.pack(Flux.fromIterable(paths), SMALL).subscribe(first);
            while (!first.isDisposed()) {
                LockSupport.parkNanos(100_000);
            }
            assertNothingLeft(backend);
        }
    }

    @ParameterizedTest
    @MethodSource("variants")
    void anErrorOfThePathsComesBehindTheFilesBeforeIt(HostIo io) throws IOException {
        List<Path> paths = files(10);
        Flux<Path> failing = Flux.fromIterable(paths).concatWith(Mono.error(new IllegalStateException("no more")));
        try (Backend backend = open(io)) {
            StepVerifier.create(backend.pack(failing).concatMap(PackTest::take))
                    .expectNextCount(10)
                    .verifyErrorMessage("no more");
            StepVerifier.create(backend.pack(Flux.empty())).verifyComplete();
            StepVerifier.create(backend.pack(subscriber -> {
                        throw new IllegalStateException("no publisher");
                    }))
                    .verifyErrorMessage("no publisher");
            assertNothingLeft(backend);
        }
    }

    @ParameterizedTest
    @MethodSource("variants")
    void pathsThatComeSlowlyAreReadAndTheContextIsKept(HostIo io) throws IOException {
        List<Path> paths = files(20);
        Sinks.Many<Path> sink = Sinks.many().unicast().onBackpressureBuffer();
        try (Backend backend = open(io)) {
            Flux<Path> known = Flux.deferContextual(context ->
                    context.get("key").equals("value") ? sink.asFlux() : Flux.error(new AssertionError("no context")));
            StepVerifier.create(backend.pack(known)
                            .concatMap(PackTest::take)
                            .contextWrite(context -> context.put("key", "value")))
                    .then(() -> sink.tryEmitNext(paths.get(0)))
                    .then(() -> paths.subList(1, 20).forEach(sink::tryEmitNext))
                    .then(sink::tryEmitComplete)
                    .expectNextCount(20)
                    .verifyComplete();
            assertNothingLeft(backend);
        }
    }

    @ParameterizedTest
    @MethodSource("variants")
    void aClosedBackendEndsIt(HostIo io) throws IOException {
        List<Path> paths = files(100);
        Backend backend = open(io);
        Sinks.Many<Path> sink = Sinks.many().unicast().onBackpressureBuffer();
        StepVerifier.create(backend.pack(sink.asFlux()).concatMap(PackTest::take))
                .then(() -> sink.tryEmitNext(paths.get(0)))
                .then(backend::close)
                .then(() -> sink.tryEmitNext(paths.get(1)))
                .verifyError(ClosedException.class);
        StepVerifier.create(backend.pack(Flux.fromIterable(paths))).verifyError(ClosedException.class);
        assertThat(openFiles()).isEmpty();
    }

    /** The file is cut between its opening and its reading at some of the many times. */
    @ParameterizedTest
    @MethodSource("variants")
    void aFileThatChangesMeanwhileIsWholeOrAnError(HostIo io) throws IOException {
        Path path = folder.resolve("changing");
        AtomicLong wholes = new AtomicLong();
        try (Backend backend = open(io)) {
            Mono<Void> changes = Mono.<Void>fromRunnable(() -> change(path))
                    .subscribeOn(Schedulers.boundedElastic())
                    .repeat(100)
                    .then();
            change(path);
            Flux<Got> reads = Flux.defer(() -> backend.pack(Flux.just(path, path, path, path)))
                    .concatMap(PackTest::take)
                    .repeat(100);
            Mono.when(changes, reads.doOnNext(got -> {
                        if (got.error == null) {
                            assertThat(got.bytes.length).isBetween(0, 40_000);
                            wholes.incrementAndGet();
                        } else {
                            assertThat(got.error)
                                    .isInstanceOf(PermanentStorageException.class)
                                    .hasMessageContaining("became shorter");
                        }
                    }))
                    .block();
            assertThat(wholes).hasPositiveValue();
            assertNothingLeft(backend);
        }
    }

    @ParameterizedTest
    @MethodSource("variants")
    void filesAreWrittenAsTheyWereRead(HostIo io) throws IOException {
        List<Path> paths = new ArrayList<>(files(300));
        paths.add(7, folder.resolve("absent"));
        Path out = Files.createDirectory(folder.resolve("out"));
        Function<Path, Path> target = path -> out.resolve(path.getFileName());
        try (Backend backend = open(io)) {
            Flux<Pack> packs = backend.pack(Flux.fromIterable(paths), SMALL).map(pack -> pack.at(target));
            List<Pack.Entry> written = backend.unpack(packs, Pack.Writing.DEFAULT.sync())
                    .collectList()
                    .block();
            assertThat(written).hasSize(301);
            for (int i = 0; i < paths.size(); i++) {
                Path copy = target.apply(paths.get(i));
                if (i == 7) {
                    assertThat(copy).doesNotExist();
                } else {
                    assertThat(copy).hasSameBinaryContentAs(paths.get(i));
                }
            }
            assertThat(written).filteredOn(entry -> entry.error() != null).hasSize(1);
            assertThat(out.toFile().list()).hasSize(300); // no hidden name is left
            assertNothingLeft(backend);
        }
    }

    @ParameterizedTest
    @MethodSource("variants")
    void aFileThatExistsIsReplacedOrAnErrorOfItsEntry(HostIo io) throws IOException {
        Path there = Files.writeString(folder.resolve("there"), "old and longer");
        Path nowhere = folder.resolve("nowhere").resolve("file");
        try (Backend backend = open(io)) {
            List<Pack.Entry> kept = write(backend, Pack.Writing.DEFAULT, there, nowhere);
            assertThat(kept.get(0).error()).isInstanceOf(FileAlreadyExistsException.class);
            assertThat(kept.get(1).error()).isInstanceOf(IOException.class);
            assertThat(there).hasContent("old and longer");
            List<Pack.Entry> replaced = write(backend, Pack.Writing.DEFAULT.replacing(), there, folder);
            assertThat(replaced.get(0).error()).isNull();
            assertThat(replaced.get(1).error()).isInstanceOf(IOException.class);
            assertThat(there).hasContent("new");
            assertThat(folder.toFile().list()).containsExactly("there");
            assertNothingLeft(backend);
        }
    }

    private static List<Pack.Entry> write(Backend backend, Pack.Writing how, Path... paths) {
        DeviceBuffer buffer = backend.allocate(3).block();
        buffer.upload(0, ByteBuffer.wrap("new".getBytes(StandardCharsets.UTF_8)))
                .block();
        List<Pack.Entry> entries =
                Stream.of(paths).map(path -> new Pack.Entry(path, 0, 3)).toList();
        return backend.unpack(Flux.just(Pack.of(buffer, entries)), how)
                .collectList()
                .block();
    }

    @ParameterizedTest
    @MethodSource("variants")
    void aCancelledWriteLeavesWholeFilesOnly(HostIo io) throws IOException {
        List<Path> paths = files(300);
        Random random = new Random(5);
        try (Backend backend = open(io)) {
            for (int i = 0; i < 20; i++) {
                Path out = Files.createDirectory(folder.resolve("out" + i));
                Function<Path, Path> target = path -> out.resolve(path.getFileName());
                Flux<Pack> packs = backend.pack(Flux.fromIterable(paths), SMALL).map(pack -> pack.at(target));
                var running = backend.unpack(packs, Pack.Writing.DEFAULT).subscribe();
                LockSupport.parkNanos(random.nextInt(10_000_000));
                running.dispose();
                assertNothingLeft(backend);
                for (Path path : paths) {
                    if (Files.exists(target.apply(path))) {
                        assertThat(target.apply(path)).hasSameBinaryContentAs(path);
                    }
                }
            }
        }
    }

    private static void change(Path path) {
        try (FileChannel file = FileChannel.open(path, StandardOpenOption.WRITE, StandardOpenOption.CREATE)) {
            file.write(ByteBuffer.allocate(40_000), 0);
            file.truncate(10);
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    @ParameterizedTest
    @MethodSource("variants")
    void filesThatLieBeyondAnIntAreRefusedNotCut(HostIo io) {
        try (Backend backend = open(io)) {
            DeviceBuffer buffer = backend.allocate(100).block();
            boolean[] closed = new boolean[1];
            Pack far = new Pack() {
                @Override
                public DeviceBuffer buffer() {
                    return buffer;
                }

                @Override
                public List<Pack.Entry> entries() {
                    return List.of(new Pack.Entry(folder.resolve("far"), 1L << 32, 100));
                }

                @Override
                public void close() {
                    closed[0] = true;
                    buffer.close();
                }
            };
            StepVerifier.create(backend.unpack(Flux.just(far), Pack.Writing.DEFAULT))
                    .expectErrorMatches(e -> e instanceof IllegalArgumentException
                            && e.getMessage().contains("ended at 4294967396"))
                    .verify(Duration.ofSeconds(30));
            assertThat(closed[0]).isTrue();
            assertThat(folder.resolve("far")).doesNotExist();
            assertNothingLeft(backend);
        }
    }
}
