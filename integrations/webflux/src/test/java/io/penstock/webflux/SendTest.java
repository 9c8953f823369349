// SPDX-License-Identifier: Apache-2.0
package io.penstock.webflux;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.penstock.Backend;
import io.penstock.Backends;
import io.penstock.Capabilities;
import io.penstock.CommonOptions;
import io.penstock.Options;
import io.penstock.engine.stream.LiveLeases;
import java.io.IOException;
import java.io.InputStream;
import java.lang.reflect.Proxy;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.time.temporal.ChronoUnit;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.core.io.buffer.DataBuffer;
import org.springframework.core.io.buffer.DataBufferUtils;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpMethod;
import org.springframework.http.HttpStatus;
import org.springframework.http.client.reactive.ClientHttpResponse;
import org.springframework.mock.http.server.reactive.MockServerHttpRequest;
import org.springframework.mock.web.server.MockServerWebExchange;
import org.springframework.test.web.reactive.server.HttpHandlerConnector;
import org.springframework.web.server.ResponseStatusException;
import org.springframework.web.server.adapter.WebHttpHandlerBuilder;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.test.StepVerifier;

class SendTest {

    private static final int SIZE = 100_001;

    @TempDir
    Path folder;

    private final byte[] bytes = new byte[SIZE];
    private Backend backend;
    private HttpFiles files;
    private TestServer server;

    @BeforeEach
    void open() throws IOException {
        new Random(3).nextBytes(bytes);
        Files.write(folder.resolve("data.bin"), bytes);
        backend = Backends.open("host", Options.none().with(CommonOptions.POISON, true));
        files = of(new HttpFiles(backend).chunkBytes(4096).depth(2));
        server = new TestServer(files, folder);
    }

    HttpFiles of(HttpFiles usual) {
        return usual;
    }

    @AfterEach
    void close() {
        server.close();
        backend.close();
        LiveLeases.awaitNone();
    }

    /** As of most devices. It failed at the first chunk, behind the head of a response with status 200. */
    @Test
    void aBackendWhoseMemoryTheProcessorCannotAddressIsRefusedBeforeTheResponse() {
        HttpFiles blind = new HttpFiles(withoutViews(backend));
        MockServerWebExchange exchange = MockServerWebExchange.from(MockServerHttpRequest.get("/data.bin"));
        StepVerifier.create(blind.send(folder.resolve("data.bin"), exchange))
                .expectErrorMessage(
                        "the processor cannot address the memory of backend host: HttpFiles needs one where it can, such as host")
                .verify();
        assertThat(exchange.getResponse().isCommitted()).isFalse();
        assertThat(exchange.getResponse().getHeaders().isEmpty()).isTrue();
        StepVerifier.create(blind.receive(Mono.never(), folder.resolve("new")))
                .expectErrorMatches(error -> error instanceof IllegalStateException)
                .verify(Duration.ofSeconds(30));
    }

    private static Backend withoutViews(Backend real) {
        return (Backend) Proxy.newProxyInstance(
                Backend.class.getClassLoader(), new Class<?>[] {Backend.class}, (proxy, method, arguments) -> {
                    Object result = method.invoke(real, arguments);
                    return result instanceof Capabilities all
                            ? new Capabilities(
                                    all.device(),
                                    all.hardware(),
                                    all.paths(),
                                    all.fences(),
                                    false,
                                    false,
                                    all.features())
                            : result;
                });
    }

    private static String header(HttpResponse<?> response, String name) {
        return response.headers().firstValue(name).orElse(null);
    }

    @Test
    void aFileIsSentWhole() throws Exception {
        HttpResponse<byte[]> response = server.get("data.bin");
        assertThat(response.statusCode()).isEqualTo(200);
        assertThat(response.body()).isEqualTo(bytes);
        assertThat(header(response, "Content-Type")).isEqualTo("application/octet-stream");
        assertThat(header(response, "Accept-Ranges")).isEqualTo("bytes");
        assertThat(header(response, "Content-Range")).isNull();
    }

    @Test
    void theTypeIsThatOfTheName() throws Exception {
        Files.writeString(folder.resolve("page.html"), "<p>");
        HttpResponse<byte[]> response = server.get("page.html", "Range", "bytes=1-1");
        assertThat(header(response, "Content-Type")).isEqualTo("text/html");
        assertThat(response.body()).containsExactly('p');
    }

    @Test
    void anEmptyFileIsSent() throws Exception {
        Files.createFile(folder.resolve("empty"));
        assertThat(server.get("empty").statusCode()).isEqualTo(200);
        assertThat(header(server.get("empty"), "Content-Length")).isEqualTo("0");
        assertThat(server.get("empty", "Range", "bytes=0-").statusCode()).isEqualTo(416);
        assertThat(server.get("empty", "Range", "bytes=-1").statusCode()).isEqualTo(200);
    }

    @ParameterizedTest
    @ValueSource(strings = {"0-0", "5-9", "4095-8192", "100000-", "-1", "-5000", "0-999999"})
    void aRangeIsSent(String range) throws Exception {
        HttpResponse<byte[]> response = server.get("data.bin", "Range", "bytes=" + range);
        assertThat(response.statusCode()).isEqualTo(206);
        String[] told = header(response, "Content-Range").split("[ /-]");
        int first = Integer.parseInt(told[1]);
        int last = Integer.parseInt(told[2]);
        assertThat(told[3]).isEqualTo("" + SIZE);
        assertThat(response.body()).isEqualTo(Arrays.copyOfRange(bytes, first, last + 1));
        String[] asked = range.split("-", -1);
        assertThat(first)
                .isEqualTo(asked[0].isEmpty() ? SIZE - Integer.parseInt(asked[1]) : Integer.parseInt(asked[0]));
    }

    /** RFC 9110, 14.1. */
    @ParameterizedTest
    @ValueSource(strings = {"Bytes=1-9", "BYTES=1-9"})
    void rangeUnitsHaveAnyCase(String range) throws Exception {
        HttpResponse<byte[]> response = server.get("data.bin", "Range", range);
        assertThat(response.statusCode()).isEqualTo(206);
        assertThat(response.body()).isEqualTo(Arrays.copyOfRange(bytes, 1, 10));
    }

    @Test
    void severalRangesAreSentInTheOrderAskedFor() throws Exception {
        HttpResponse<byte[]> response = server.get("data.bin", "Range", "bytes=5000-13000, 0-1, 200000-200001");
        assertThat(response.statusCode()).isEqualTo(206);
        String type = header(response, "Content-Type");
        assertThat(type).startsWith("multipart/byteranges; boundary=");
        String line = "\r\n--" + type.substring(type.indexOf('=') + 1);
        assertThat(new String(response.body(), StandardCharsets.ISO_8859_1))
                .isEqualTo(part(line, 5000, 13000) + part(line, 0, 1) + line + "--\r\n");
        assertThat(header(response, "Content-Length")).isEqualTo("" + response.body().length);
    }

    private String part(String line, int first, int last) {
        return line + "\r\nContent-Type: application/octet-stream\r\nContent-Range: bytes " + first + "-" + last + "/"
                + SIZE + "\r\n\r\n"
                + new String(bytes, first, last + 1 - first, StandardCharsets.ISO_8859_1);
    }

    @ParameterizedTest
    @ValueSource(strings = {"bytes=100001-", "bytes=-0", "bytes=100001-100002,300000-"})
    void rangesThatTheFileDoesNotHaveAreRefused(String range) throws Exception {
        HttpResponse<byte[]> response = server.get("data.bin", "Range", range);
        assertThat(response.statusCode()).isEqualTo(416);
        assertThat(header(response, "Content-Range")).isEqualTo("bytes */" + SIZE);
        assertThat(response.body()).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(strings = {"lines=0-1", "bytes=x", "bytes=", "bytes=,", "bytes=9-5", "bytes=0-,0-,0-", "bytes=+1-2"})
    void rangesThatMeanNothingOrTooMuchAreIgnored(String range) throws Exception {
        HttpResponse<byte[]> response = server.get("data.bin", "Range", range);
        assertThat(response.statusCode()).isEqualTo(200);
        assertThat(response.body()).hasSize(SIZE);
    }

    @Test
    void aRangeOfAnotherVersionIsIgnored() throws Exception {
        Path file = folder.resolve("data.bin");
        Files.setLastModifiedTime(file, FileTime.from(Instant.parse("2020-02-02T02:02:02.5Z")));
        String tag = header(server.get("data.bin"), "ETag");
        String date = "Sun, 02 Feb 2020 02:02:02 GMT";
        assertThat(status(tag)).isEqualTo(206);
        assertThat(status(date)).isEqualTo(206);
        assertThat(status("W/" + tag)).isEqualTo(200);
        assertThat(status("yesterday")).isEqualTo(200);
        Files.setLastModifiedTime(file, FileTime.from(Instant.parse("2020-02-02T02:02:03.5Z")));
        assertThat(status(tag)).isEqualTo(200);
        assertThat(status(date)).isEqualTo(200);
    }

    /** Which may have changed again within the second that its date states (RFC 9110, 8.8.2.2). */
    @Test
    void aDateThatIsNotOverIsNoVersion() throws Exception {
        Instant tomorrow = Instant.now().plusSeconds(86_400).truncatedTo(ChronoUnit.SECONDS);
        Files.setLastModifiedTime(folder.resolve("data.bin"), FileTime.from(tomorrow));
        String date = DateTimeFormatter.RFC_1123_DATE_TIME.format(tomorrow.atZone(ZoneOffset.UTC));
        assertThat(status(date)).isEqualTo(200);
    }

    private int status(String version) throws IOException, InterruptedException {
        return server.get("data.bin", "Range", "bytes=0-1", "If-Range", version).statusCode();
    }

    @Test
    void whatTheClientHasIsNotSentAgain() throws Exception {
        HttpResponse<byte[]> first = server.get("data.bin");
        HttpResponse<byte[]> again = server.get("data.bin", "If-None-Match", header(first, "ETag"));
        assertThat(again.statusCode()).isEqualTo(304);
        assertThat(again.body()).isEmpty();
        assertThat(server.get("data.bin", "If-Modified-Since", header(first, "Last-Modified"))
                        .statusCode())
                .isEqualTo(304);
        Files.write(folder.resolve("data.bin"), new byte[] {1});
        assertThat(server.get("data.bin", "If-None-Match", header(first, "ETag"))
                        .body())
                .containsExactly(1);
    }

    /** Spring ignores If-Match of GET: a resumed download mixed two versions. */
    @Test
    void whatTheClientRequiresIsComparedBeforeAnythingIsSent() throws Exception {
        HttpResponse<byte[]> whole = server.get("data.bin");
        String tag = header(whole, "ETag");
        String date = header(whole, "Last-Modified");
        for (String good : List.of(tag, "*", "\"a\", " + tag)) {
            HttpResponse<byte[]> part = server.get("data.bin", "If-Match", good, "Range", "bytes=1-1");
            assertThat(part.statusCode()).as(good).isEqualTo(206);
        }
        for (String bad : List.of("\"a\"", "W/" + tag, "a")) {
            assertThat(server.get("data.bin", "If-Match", bad, "Range", "bytes=1-1")
                            .statusCode())
                    .as(bad)
                    .isEqualTo(412);
        }
        String past = "Sat, 01 Jan 2000 00:00:00 GMT";
        assertThat(server.get("data.bin", "If-Unmodified-Since", past).statusCode())
                .isEqualTo(412);
        assertThat(server.get("data.bin", "If-Unmodified-Since", date).statusCode())
                .isEqualTo(200);
        assertThat(server.get("data.bin", "If-Unmodified-Since", "no date").statusCode())
                .isEqualTo(200);
        assertThat(server.get("data.bin", "If-Match", tag, "If-None-Match", tag).statusCode())
                .isEqualTo(304);
    }

    @Test
    void headHasTheHeadersOfTheWholeFile() throws Exception {
        HttpResponse<byte[]> response = server.send(
                server.to("data.bin").method("HEAD", BodyPublishers.noBody()).header("Range", "bytes=0-1"));
        assertThat(response.statusCode()).isEqualTo(200);
        assertThat(header(response, "Content-Length")).isEqualTo("" + SIZE);
        assertThat(response.body()).isEmpty();
        assertThat(header(response, "ETag")).isEqualTo(header(server.get("data.bin"), "ETag"));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "absent",
                "folder",
                "absent/data.bin",
                "data.bin/x",
                "data.bin/x/y",
                ".hidden",
                "%2e%2e/data.bin",
                "folder/..%2f..%2fx",
                "a%00b"
            })
    void whatIsNotThereOrNotForClientsIsNotFound(String name) throws Exception {
        Files.createDirectory(folder.resolve("folder"));
        Files.writeString(folder.resolve(".hidden"), "x");
        assertThat(server.get(name).statusCode()).isEqualTo(404);
    }

    @Test
    void aNameThatIsTooLongForAnyFileIsNotFound() throws Exception {
        assertThat(server.get("x".repeat(256)).statusCode()).isEqualTo(404);
        assertThat(server.get("x".repeat(256) + "/y").statusCode()).isEqualTo(404);
    }

    @Test
    void namesLeadNowhereElse() {
        assertThat(HttpFiles.below(folder, "a/b")).isEqualTo(folder.resolve("a/b"));
        assertThat(HttpFiles.below(folder, "/a/b"))
                .as("as a wildcard of Spring")
                .isEqualTo(folder.resolve("a/b"));
        for (String name : new String[] {
            "//etc/passwd", "/", "/../x", "/.git/config", "../x", "a/../../x", "a/./b", "", ".", "a/.git/config"
        }) {
            assertThatExceptionOfType(ResponseStatusException.class)
                    .as(name)
                    .isThrownBy(() -> HttpFiles.below(folder, name))
                    .matches(refusal -> refusal.getStatusCode().equals(HttpStatus.NOT_FOUND));
        }
    }

    @Test
    void aFileThatBecomesShorterEndsTheConnection() throws Exception {
        Path file = Files.write(folder.resolve("large"), new byte[64 << 20]);
        try (Socket socket = new Socket("localhost", server.port())) {
            socket.getOutputStream()
                    .write("GET /large HTTP/1.1\r\nHost: x\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
            InputStream in = socket.getInputStream();
            assertThat(in.read()).isEqualTo('H'); // the rest fits in no socket's buffers
            Files.write(file, new byte[] {1});
            assertThat(in.readAllBytes().length).as("ended, and early").isLessThan(64 << 20);
        }
    }

    @Test
    void clientsThatHangUpAtAnyMomentLeaveNothing() throws Exception {
        Files.write(folder.resolve("large"), new byte[16 << 20]);
        for (int i = 0; i < 2_000; i++) {
            try (Socket socket = new Socket("localhost", server.port())) {
                socket.setSoLinger(true, 0); // a reset, as of a client that died
                String ranges = i % 2 == 0 ? "" : "Range: bytes=0-1,3-\r\n";
                socket.getOutputStream()
                        .write(("GET /large HTTP/1.1\r\nHost: x\r\n" + ranges + "\r\n")
                                .getBytes(StandardCharsets.US_ASCII));
                LockSupport.parkNanos(ThreadLocalRandom.current().nextInt(1_500_000));
            }
        }
        LiveLeases.awaitNone();
    }

    /** As of a WebTestClient without a server: its client subscribes to the body when the response is complete. */
    @ParameterizedTest
    @ValueSource(strings = {"bytes=0-", "bytes=5-9,100-50000"})
    void theBodyMayBeReadAfterTheResponse(String range) throws IOException {
        HttpHandlerConnector connector = new HttpHandlerConnector(
                WebHttpHandlerBuilder.webHandler(exchange -> files.send(folder.resolve("data.bin"), exchange))
                        .build());
        ClientHttpResponse response = connector
                .connect(HttpMethod.GET, URI.create("/data.bin"), request -> {
                    request.getHeaders().set(HttpHeaders.RANGE, range);
                    return request.setComplete();
                })
                .block();
        assertThat(response.getStatusCode()).isEqualTo(HttpStatus.PARTIAL_CONTENT);
        awaitNoFile(); // the response is complete
        byte[] body = content(response.getBody());
        assertThat(body).hasSize((int) response.getHeaders().getContentLength());
        assertThat(Arrays.equals(body, bytes)).isEqualTo(range.endsWith("-"));
        awaitNoFile();
    }

    /** Not only later: on the thread that completes the response, too. */
    @Test
    void theBodyMayBeReadOnWhenTheResponseIsComplete() {
        MockServerWebExchange exchange = MockServerWebExchange.from(MockServerHttpRequest.get("/data.bin"));
        CompletableFuture<byte[]> body = new CompletableFuture<>();
        exchange.getResponse().setWriteHandler(buffers -> {
            joined(buffers).subscribe(body::complete, body::completeExceptionally);
            return Mono.empty();
        });
        files.send(folder.resolve("data.bin"), exchange).block();
        assertThat(body.join()).isEqualTo(bytes);
        awaitNoFile();
    }

    /** Returns the body of a response that is complete before its body is read. */
    private Flux<DataBuffer> lateBody() {
        MockServerWebExchange exchange = MockServerWebExchange.from(MockServerHttpRequest.get("/data.bin"));
        AtomicReference<Flux<DataBuffer>> body = new AtomicReference<>();
        exchange.getResponse().setWriteHandler(buffers -> {
            body.set(buffers);
            return Mono.empty();
        });
        files.send(folder.resolve("data.bin"), exchange).block();
        return body.get();
    }

    private void awaitNoFile() {
        while (backend.counters().files() > 0) {
            assertThat(Thread.interrupted()).as("waited in vain").isFalse(); // by the time limit of tests
            LockSupport.parkNanos(1_000_000);
        }
    }

    private static byte[] content(Flux<DataBuffer> buffers) {
        return joined(buffers).block();
    }

    private static Mono<byte[]> joined(Flux<DataBuffer> buffers) {
        return DataBufferUtils.join(buffers).map(buffer -> {
            byte[] content = new byte[buffer.readableByteCount()];
            buffer.read(content);
            DataBufferUtils.release(buffer);
            return content;
        });
    }

    @Test
    void aCancelOfABodyThatIsReadLaterLeavesNothingOpen() {
        for (int i = 0; i < 500; i++) {
            Disposable reading = lateBody().subscribe(DataBufferUtils::release);
            LockSupport.parkNanos(ThreadLocalRandom.current().nextInt(1_000_000));
            reading.dispose();
        }
        awaitNoFile();
    }

    /** The client gets no bytes of a file that has replaced the file whose length and ETag it got. */
    @Test
    void aFileThatIsReplacedBeforeTheBodyIsReadIsAnError() throws IOException {
        Flux<DataBuffer> body = lateBody();
        Files.move(
                Files.write(folder.resolve("new"), new byte[SIZE]),
                folder.resolve("data.bin"),
                StandardCopyOption.REPLACE_EXISTING);
        StepVerifier.create(body)
                .expectErrorMatches(error -> error instanceof FileSystemException
                        && error.getMessage().endsWith("data.bin: was replaced before it was sent"))
                .verify();
        awaitNoFile();
    }

    @Test
    void otherServersGetCopies() {
        MockServerWebExchange exchange = MockServerWebExchange.from(
                MockServerHttpRequest.get("/").header("Range", "bytes=1-9000").build());
        StepVerifier.create(files.send(folder.resolve("data.bin"), exchange)).verifyComplete();
        StepVerifier.create(DataBufferUtils.join(exchange.getResponse().getBody()))
                .assertNext(all -> {
                    byte[] sent = new byte[all.readableByteCount()];
                    all.read(sent);
                    assertThat(sent).isEqualTo(Arrays.copyOfRange(bytes, 1, 9001));
                })
                .verifyComplete();
    }
}
