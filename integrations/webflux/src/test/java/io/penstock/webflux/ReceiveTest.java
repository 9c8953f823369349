// SPDX-License-Identifier: Apache-2.0
package io.penstock.webflux;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.PooledByteBufAllocator;
import io.penstock.Backend;
import io.penstock.Backends;
import io.penstock.CommonOptions;
import io.penstock.Options;
import io.penstock.engine.stream.LiveLeases;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.Socket;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Queue;
import java.util.Random;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.core.io.buffer.DataBuffer;
import org.springframework.core.io.buffer.NettyDataBuffer;
import org.springframework.core.io.buffer.NettyDataBufferFactory;
import org.springframework.http.HttpStatus;
import org.springframework.mock.http.server.reactive.MockServerHttpRequest;
import org.springframework.web.server.ResponseStatusException;
import reactor.core.Disposable;
import reactor.core.Exceptions;
import reactor.core.publisher.Flux;
import reactor.core.scheduler.Schedulers;
import reactor.test.StepVerifier;
import reactor.test.publisher.TestPublisher;

class ReceiveTest {

    @TempDir
    Path folder;

    private final NettyDataBufferFactory factory = new NettyDataBufferFactory(PooledByteBufAllocator.DEFAULT);
    private final Queue<NettyDataBuffer> made = new ConcurrentLinkedQueue<>();
    private Backend backend;
    private HttpFiles files;

    @BeforeEach
    void open() {
        backend = Backends.open("host", Options.none().with(CommonOptions.POISON, true));
        files = new HttpFiles(backend).chunkBytes(1000).depth(2);
    }

    @AfterEach
    void close() {
        backend.close();
        LiveLeases.awaitNone();
        assertThat(made)
                .as("buffers that nobody has released")
                .noneMatch(buffer -> buffer.getNativeBuffer().refCnt() > 0);
    }

    private DataBuffer buffer(byte[] bytes, int from, int length) {
        NettyDataBuffer buffer = factory.allocateBuffer(Math.max(1, length));
        buffer.write(bytes, from, length);
        made.add(buffer);
        return buffer;
    }

    /** Cuts bytes into buffers of each length in turn. */
    private Flux<DataBuffer> cut(byte[] bytes, int... lengths) {
        return Flux.generate(() -> new int[2], (state, sink) -> {
            if (state[0] == bytes.length) {
                sink.complete();
                return state;
            }
            int length = Math.min(bytes.length - state[0], lengths[state[1]++ % lengths.length]);
            sink.next(buffer(bytes, state[0], length));
            state[0] += length;
            return state;
        });
    }

    private List<String> names() throws IOException {
        try (Stream<Path> all = Files.list(folder)) {
            return all.map(path -> path.getFileName().toString()).sorted().toList();
        }
    }

    private static byte[] random(int length) {
        byte[] bytes = new byte[length];
        new Random(length).nextBytes(bytes);
        return bytes;
    }

    /** The file was replaced by the part, with which {@code curl -C} continues an upload. */
    @Test
    void aPartOfAFileIsRefused() throws Exception {
        Path target = Files.writeString(folder.resolve("whole"), "0123456789");
        try (TestServer server = new TestServer(files, folder)) {
            HttpRequest.Builder part = server.to("whole")
                    .header("Content-Range", "bytes 5-9/10")
                    .PUT(HttpRequest.BodyPublishers.ofString("56789"));
            assertThat(server.send(part).statusCode()).isEqualTo(400);
        }
        assertThat(target).hasContent("0123456789");
    }

    @Test
    void aBodyBecomesAFileHoweverItIsCut() throws IOException {
        byte[] bytes = random(12_345);
        int[][] cuts = {{12_345}, {1}, {1000}, {999, 0, 1, 3000}, {7, 2500}};
        for (int[] lengths : cuts) {
            Path target = folder.resolve("cut");
            StepVerifier.create(files.receive(cut(bytes, lengths), target))
                    .expectNext(12_345L)
                    .verifyComplete();
            assertThat(target).hasBinaryContent(bytes);
            StepVerifier.create(files.receive(cut(bytes, lengths).subscribeOn(Schedulers.parallel()), target))
                    .expectNext(12_345L)
                    .verifyComplete();
            assertThat(target).hasBinaryContent(bytes);
        }
        assertThat(names()).containsExactly("cut");
    }

    @Test
    void anEmptyBodyBecomesAnEmptyFile() {
        StepVerifier.create(files.receive(Flux.empty(), folder.resolve("empty")))
                .expectNext(0L)
                .verifyComplete();
        assertThat(folder.resolve("empty")).isEmptyFile();
    }

    /** As where the application has shut down Reactor's schedulers meanwhile. */
    @Test
    void anUploadThatFailsLeavesNothingThoughNoThreadTakesTheCall() throws IOException {
        TestPublisher<DataBuffer> body = TestPublisher.create();
        var end = files.receive(body, folder.resolve("file")).toFuture();
        BufferOwnersTest.awaitSubscriber(body);
        Thread test = Thread.currentThread();
        Schedulers.onScheduleHook("rejects", task -> {
            if (Thread.currentThread() == test) {
                throw Exceptions.failWithRejected();
            }
            return task;
        });
        try {
            end.cancel(false);
        } finally {
            Schedulers.resetOnScheduleHook("rejects");
        }
        assertThat(names()).isEmpty();
    }

    @Test
    void theFileAppearsWhenItIsWholeAndReplacesTheOldOne() throws IOException {
        Path target = Files.writeString(folder.resolve("file"), "old");
        TestPublisher<DataBuffer> body = TestPublisher.create();
        StepVerifier.create(files.receive(body, target))
                .then(() -> BufferOwnersTest.awaitSubscriber(body))
                .then(() -> body.next(buffer(random(2000), 0, 1500)))
                .then(() -> assertThat(target).hasContent("old"))
                .then(body::complete)
                .expectNext(1500L)
                .verifyComplete();
        assertThat(target).hasSize(1500);
        assertThat(names()).containsExactly("file");
    }

    /** Waits for what a file that is opened elsewhere leads to. */
    private static void await(java.util.function.BooleanSupplier condition) {
        while (!condition.getAsBoolean()) {
            assertThat(Thread.interrupted()).as("waited in vain").isFalse(); // by the time limit of tests
            Thread.onSpinWait();
        }
    }

    @Test
    void oneBufferIsRequestedAtATime() {
        Flux<DataBuffer> body =
                cut(random(5000), 300).doOnRequest(n -> assertThat(n).isEqualTo(1));
        StepVerifier.create(files.receive(body, folder.resolve("x")))
                .expectNext(5000L)
                .verifyComplete();
    }

    @Test
    void aBodyThatFailsLeavesTheOldFile() throws IOException {
        Path target = Files.writeString(folder.resolve("file"), "old");
        Flux<DataBuffer> broken = cut(random(5000), 700).concatWith(Flux.error(new IOException("hung up")));
        StepVerifier.create(files.receive(broken, target)).verifyErrorMessage("hung up");
        assertThat(target).hasContent("old");
        assertThat(names()).containsExactly("file");
    }

    @Test
    void aNameAsLongAsAnyIsReceived() throws IOException {
        String longest = "x".repeat(255);
        StepVerifier.create(files.receive(cut(random(10), 10), folder.resolve(longest)))
                .expectNext(10L)
                .verifyComplete();
        assertThat(names()).containsExactly(longest);
    }

    @ParameterizedTest
    @ValueSource(strings = {"absent/file", "plain/file", "plain/a/b"})
    void aFolderThatIsNotThereIsNotFound(String name) throws IOException {
        Files.createFile(folder.resolve("plain"));
        StepVerifier.create(files.receive(cut(random(10), 10), folder.resolve(name)))
                .verifyErrorMatches(refusal -> refusal instanceof ResponseStatusException status
                        && status.getStatusCode().equals(HttpStatus.NOT_FOUND));
        assertThat(made).as("what was never asked for").isEmpty();
    }

    @Test
    void aNameThatNoFileCanHaveIsRefusedBeforeTheBodyIsRead() throws IOException {
        Files.createDirectory(folder.resolve("folder"));
        for (String name : List.of("folder", "x".repeat(256))) {
            HttpStatus expected = name.equals("folder") ? HttpStatus.FORBIDDEN : HttpStatus.NOT_FOUND;
            StepVerifier.create(files.receive(cut(random(10), 10), folder.resolve(name)))
                    .verifyErrorMatches(refusal -> refusal instanceof ResponseStatusException status
                            && status.getStatusCode().equals(expected));
        }
        assertThat(made).as("what was never asked for").isEmpty();
        assertThat(names()).containsExactly("folder");
    }

    @Test
    void anUploadCancelledAtAnyMomentLeavesNothing() throws IOException {
        byte[] bytes = random(20_000);
        for (int i = 0; i < 500; i++) {
            Flux<DataBuffer> body = cut(bytes, 700).subscribeOn(Schedulers.parallel());
            Disposable upload = files.receive(body, folder.resolve("f" + i)).subscribe();
            LockSupport.parkNanos(ThreadLocalRandom.current().nextInt(2_000_000));
            upload.dispose();
        }
        backend.closeLater().block();
        await(() -> !isWritten());
        for (String name : names()) {
            assertThat(folder.resolve(name)).as("a file that appeared is whole").hasBinaryContent(bytes);
        }
        await(() -> made.stream().noneMatch(buffer -> buffer.getNativeBuffer().refCnt() > 0));
    }

    @Tag("slow")
    @Test
    void requestsAreReceived() throws Exception {
        try (TestServer server = new TestServer(files, folder)) {
            byte[] bytes = random(3_000_000);
            assertThat(server.send(server.to("up").PUT(BodyPublishers.ofByteArray(bytes)))
                            .statusCode())
                    .isEqualTo(201);
            assertThat(server.get("up").body()).isEqualTo(bytes);
            assertThat(server.send(server.to("no/up").PUT(BodyPublishers.ofByteArray(bytes)))
                            .statusCode())
                    .isEqualTo(404);
        }
    }

    @Test
    void aClientThatHangsUpLeavesNothing() throws Exception {
        try (TestServer server = new TestServer(files, folder)) {
            try (Socket socket = new Socket("localhost", server.port())) {
                OutputStream out = socket.getOutputStream();
                out.write("PUT /up HTTP/1.1\r\nHost: x\r\nContent-Length: 10000\r\n\r\n"
                        .getBytes(StandardCharsets.US_ASCII));
                out.write(new byte[5000]);
                out.flush();
                await(this::isWritten);
            }
            await(() -> !isWritten());
            assertThat(folder).isEmptyDirectory();
        }
    }

    /** Reactor Netty completes the bodies of connections that it closes itself, as it does when a server stops. */
    @Test
    void aBodyThatEndsBeforeItsLengthLeavesTheOldFile() throws IOException {
        Path target = Files.writeString(folder.resolve("file"), "old");
        MockServerHttpRequest request =
                MockServerHttpRequest.put("/file").contentLength(5001).body(cut(random(5000), 700));
        StepVerifier.create(files.receive(request, target))
                .verifyErrorMatches(error -> error instanceof IOException
                        && String.valueOf(error.getMessage()).contains("1 bytes"));
        assertThat(target).hasContent("old");
        assertThat(names()).containsExactly("file");
    }

    @Test
    void aRequestOfKnownOrUnknownLengthBecomesAFile() {
        byte[] bytes = random(5000);
        for (long length : new long[] {-1, 5000}) {
            Path target = folder.resolve("file" + length);
            MockServerHttpRequest.BodyBuilder request = MockServerHttpRequest.put("/file");
            StepVerifier.create(files.receive(
                            (length < 0 ? request : request.contentLength(length)).body(cut(bytes, 700)), target))
                    .expectNext(5000L)
                    .verifyComplete();
            assertThat(target).hasBinaryContent(bytes);
        }
    }

    /** Returns whether a file is being written in the folder: it has a hidden name, or none and is open. */
    private boolean isWritten() {
        Path descriptors = Path.of("/proc/self/fd");
        try (Stream<Path> open = Files.isDirectory(descriptors) ? Files.list(descriptors) : Stream.empty()) {
            return names().stream().anyMatch(name -> name.startsWith("."))
                    || open.anyMatch(descriptor -> target(descriptor).startsWith(folder));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static Path target(Path descriptor) {
        try {
            return Files.readSymbolicLink(descriptor);
        } catch (IOException closed) {
            return descriptor;
        }
    }
}
