// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.host;

import static io.penstock.backend.host.PublisherUnderTest.NEVER_FAILS;
import static io.penstock.backend.host.PublisherUnderTest.many;
import static io.penstock.backend.host.PublisherUnderTest.none;
import static io.penstock.backend.host.PublisherUnderTest.one;

import io.penstock.Backend;
import io.penstock.Backends;
import io.penstock.DeviceBuffer;
import io.penstock.DeviceFence;
import io.penstock.FileOption;
import io.penstock.Options;
import io.penstock.PermanentStorageException;
import io.penstock.StorageFile;
import io.penstock.StreamPlan;
import io.penstock.SubmitOptions;
import io.penstock.SubmitOptions.Errors;
import io.penstock.Transfer;
import io.penstock.WritePlan;
import io.penstock.tck.Require;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Objects;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DynamicContainer;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.io.TempDir;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** The Reactive Streams TCK, run against every publisher that the API gives out. */
@Tag("slow")
class ReactiveStreamsTest {

    private static final Duration PATIENCE = Duration.ofSeconds(30);
    private static final int BLOCK = 512;
    private static final int BLOCKS = 8;

    @TempDir
    Path folder;

    private Backend backend;
    private Path path;
    private StorageFile file;
    private StorageFile closedFile;
    private DeviceBuffer buffer;
    private DeviceBuffer closedBuffer;

    @BeforeEach
    void open() throws IOException {
        backend = Backends.open("host", options());
        path = folder.resolve("blocks");
        Files.write(path, new byte[BLOCK * BLOCKS]);
        file = get(backend.openFile(path, FileOption.READ, FileOption.WRITE));
        closedFile = get(backend.openFile(path, FileOption.READ, FileOption.WRITE));
        closedFile.close();
        buffer = get(backend.allocate(BLOCK * BLOCKS));
        closedBuffer = get(backend.allocate(BLOCK));
        closedBuffer.close();
    }

    @AfterEach
    void close() {
        backend.close();
    }

    /** Returns what the backend is opened with. */
    Options options() {
        return Options.none();
    }

    private static <T> T get(Mono<T> mono) {
        return Objects.requireNonNull(mono.block(PATIENCE));
    }

    private Transfer read(int block) {
        long offset = block % BLOCKS * (long) BLOCK;
        return Transfer.read(file.region(offset, BLOCK), buffer.region(offset, BLOCK));
    }

    private Transfer refused() {
        return Transfer.read(closedFile.region(0, BLOCK), buffer.region(0, BLOCK));
    }

    private static Flux<Integer> count(long elements) {
        return Flux.range(0, (int) Math.min(elements, Integer.MAX_VALUE));
    }

    @TestFactory
    Stream<DynamicContainer> submitOfMany() {
        SubmitOptions plain = SubmitOptions.DEFAULT;
        return Stream.of(
                submit("as they come", plain),
                submit("one in flight", plain.inFlight(1)),
                submit("in order", plain.ordered()),
                submit("delaying errors", plain.errors(Errors.DELAY)),
                submit("materializing errors", plain.errors(Errors.MATERIALIZE)),
                submit("in order, materializing errors", plain.ordered().errors(Errors.MATERIALIZE)),
                submit("on the I/O queue", plain.direct()),
                submit(
                        "on the I/O queue, in order, delaying errors",
                        plain.direct().ordered().errors(Errors.DELAY)));
    }

    private DynamicContainer submit(String name, SubmitOptions options) {
        // Where a transfer's failure is a value, only the publisher's own is an error.
        Flux<Transfer> failing = options.errors() == Errors.STOP
                ? Flux.just(refused())
                : Flux.error(() -> new IllegalStateException("meant to fail"));
        return many(
                "submit " + name,
                elements -> backend.submit(count(elements).map(this::read), options),
                () -> backend.submit(failing, options));
    }

    @TestFactory
    Stream<DynamicContainer> streams() {
        return Stream.of(
                many(
                        "stream of regions, one element each",
                        elements -> elements > 1000
                                ? backend.stream(StreamPlan.of(file.all()), chunk -> count(elements))
                                : backend.stream(
                                        StreamPlan.of(count(elements)
                                                .map(block -> read(block).fileRegion(0))
                                                .collectList()
                                                .block()),
                                        chunk -> Mono.just(chunk.index())),
                        () -> backend.stream(
                                StreamPlan.of(closedFile.region(0, BLOCK)), chunk -> Mono.just(chunk.index()))),
                many(
                        "stream of a path, all elements of its one chunk",
                        elements -> backend.stream(StreamPlan.of(path), chunk -> count(elements)),
                        () -> backend.stream(StreamPlan.of(folder.resolve("absent")), chunk -> Mono.empty())));
    }

    @TestFactory
    Stream<DynamicContainer> transfers() {
        return Stream.of(
                one("submit", () -> backend.submit(read(0)), () -> backend.submit(refused())),
                one(
                        "submit, keyed",
                        () -> backend.submit(read(0).ordered("key")),
                        () -> backend.submit(refused().ordered("key"))),
                one("enqueue", () -> backend.enqueue(read(0)), () -> backend.enqueue(refused())),
                one("outcome of a fence", () -> fence(read(0)).outcome(), NEVER_FAILS),
                none("signal of a fence", () -> fence(read(0)).signalled(), NEVER_FAILS),
                one(
                        "write",
                        () -> backend.write(write(), chunk -> Mono.just(chunk.length())),
                        () -> backend.write(
                                WritePlan.to(closedFile.region(0, BLOCK)), chunk -> Mono.just(chunk.length()))));
    }

    private WritePlan write() {
        return WritePlan.to(file.region(0, BLOCK));
    }

    private DeviceFence fence(Transfer transfer) {
        return get(backend.enqueue(transfer));
    }

    @TestFactory
    Stream<DynamicContainer> filesAndBuffers() {
        // withFile and withBuffer are Reactor's usingWhen over openFile and allocate. It may complete just after a
        // cancel that races with the resource, which rule 2.8 allows and the TCK's check of 3.7 now and then meets.
        return Stream.of(
                one("openFile", () -> backend.openFile(path), () -> backend.openFile(folder.resolve("absent"))),
                none("sync", () -> file.sync(), () -> closedFile.sync()),
                none("truncate", () -> file.truncate(BLOCK * BLOCKS), () -> closedFile.truncate(0)),
                preallocate(),
                one("allocate", () -> backend.allocate(BLOCK), () -> closed().allocate(BLOCK)),
                one("upload", () -> buffer.upload(0, bytes()), () -> closedBuffer.upload(0, bytes())),
                one("download", () -> buffer.download(0, bytes()), () -> closedBuffer.download(0, bytes())));
    }

    private DynamicContainer preallocate() {
        try {
            file.preallocate(BLOCK * BLOCKS).block(PATIENCE);
        } catch (PermanentStorageException e) { // EOPNOTSUPP of file channels, and of some file systems
            return DynamicContainer.dynamicContainer(
                    "preallocate",
                    Stream.of(DynamicTest.dynamicTest(
                            "needs fallocate", () -> Require.backend("fallocate", e.getMessage()))));
        }
        return none("preallocate", () -> file.preallocate(BLOCK * BLOCKS), () -> closedFile.preallocate(BLOCK));
    }

    private static ByteBuffer bytes() {
        return ByteBuffer.allocate(BLOCK);
    }

    private Backend closed() {
        Backend closed = Backends.open("host", options());
        closed.close();
        return closed;
    }

    @TestFactory
    DynamicContainer closing() {
        return none("closeLater", () -> Backends.open("host", options()).closeLater(), NEVER_FAILS);
    }
}
