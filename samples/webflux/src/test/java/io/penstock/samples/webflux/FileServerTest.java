// SPDX-License-Identifier: Apache-2.0
package io.penstock.samples.webflux;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.Backend;
import io.penstock.Backends;
import io.penstock.engine.stream.LiveLeases;
import java.io.IOException;
import java.net.Socket;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Queue;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import reactor.blockhound.BlockHound;

@EnabledOnOs(OS.LINUX) // descriptors are counted in /proc
class FileServerTest {

    private static final int LARGE = 64 << 20;

    private static final Queue<String> BLOCKED = new ConcurrentLinkedQueue<>();

    @TempDir
    Path folder;

    private final byte[] bytes = new byte[3_000_000];
    private RunningServer server;

    @BeforeAll
    static void watch() {
        Backends.open("host").close(); // JNA binds natives by names that BlockHound changes: bind them first
        BlockHound.builder()
                .loadIntegrations()
                .blockingMethodCallback(method -> BLOCKED.add(method + " on "
                        + Thread.currentThread().getName() + " at "
                        + Arrays.toString(new Exception().getStackTrace())))
                .install();
    }

    @BeforeEach
    void start() throws IOException {
        new Random(5).nextBytes(bytes);
        Files.write(folder.resolve("data"), bytes);
        try (var sparse = new java.io.RandomAccessFile(folder.resolve("large").toFile(), "rw")) {
            sparse.setLength(LARGE);
        }
        server = new RunningServer(folder);
        BLOCKED.clear();
    }

    @AfterEach
    void stop() {
        assertThat(BLOCKED).as("calls that block, on threads that must not").isEmpty();
        server.close();
        assertThat(LiveLeases.count()).as("leases that nobody has ended").isZero();
    }

    @Test
    void filesAreReceivedAndSent() throws Exception {
        HttpResponse<byte[]> put = server.send(server.to("/files/new").PUT(BodyPublishers.ofByteArray(bytes)));
        assertThat(put.statusCode()).isEqualTo(201);
        assertThat(server.send(server.to("/files/new")).body()).isEqualTo(bytes);
        HttpResponse<byte[]> part = server.send(server.to("/files/data").header("Range", "bytes=1000-1999999"));
        assertThat(part.statusCode()).isEqualTo(206);
        assertThat(part.body()).isEqualTo(Arrays.copyOfRange(bytes, 1000, 2_000_000));
        HttpResponse<byte[]> parts = server.send(server.to("/files/data").header("Range", "bytes=0-0,5-6"));
        assertThat(parts.headers().firstValue("Content-Type").orElse("")).startsWith("multipart/byteranges; boundary=");
        assertThat(server.send(server.to("/files/..%2Fdata")).statusCode()).isEqualTo(404);
    }

    @Test
    void healthAndMetersAreThere() throws Exception {
        server.send(server.to("/files/data"));
        assertThat(text("/actuator/health")).contains("\"status\":\"UP\"", "\"penstock\"", "\"backend\":\"host\"");
        assertThat(text("/actuator/prometheus")).contains("http_server_requests_seconds_count", "/files/{*name}");
    }

    private String text(String path) throws Exception {
        return new String(server.send(server.to(path)).body(), StandardCharsets.UTF_8);
    }

    @Test
    void clientsThatHangUpLeaveNothing() throws IOException {
        long end = System.nanoTime() + 25_000_000_000L;
        int aborted = 0;
        while (aborted < 10_000 && System.nanoTime() < end) {
            try (Socket socket = aborted % 2 == 0 ? server.begin("large") : server.ask("large")) {
                socket.setSoLinger(true, 0); // a reset, as of a client that died
                aborted++;
            }
        }
        System.Logger log = System.getLogger(FileServerTest.class.getName());
        log.log(System.Logger.Level.WARNING, "{0} requests were aborted", aborted);
        RunningServer.awaitNothingHeld(folder);
    }

    @Test
    void slowReadersHoldTwoChunksEach() throws Exception {
        List<Socket> readers = new ArrayList<>();
        try {
            for (int i = 0; i < 200; i++) {
                readers.add(server.begin("large"));
                // Each lease counts twice, for the stream and for the buffer; a request has two chunks.
                assertThat(LiveLeases.count()).isLessThanOrEqualTo(4L * readers.size());
            }
            assertThat(RunningServer.descriptors(folder))
                    .as("downloads that go on")
                    .isEqualTo(200);
            assertThat(server.send(server.to("/files/data")).body())
                    .as("for others meanwhile")
                    .isEqualTo(bytes);
        } finally {
            for (Socket reader : readers) {
                reader.close();
            }
        }
        RunningServer.awaitNothingHeld(folder);
    }

    @Test
    void theBackendIsClosedWhenTheLastDownloadHasEnded() throws Exception {
        Backend backend = server.context.getBean(Backend.class);
        try (Socket reader = server.begin("large")) {
            CompletableFuture<Void> closing = CompletableFuture.runAsync(server::close);
            RunningServer.await(() -> server.context.isClosed());
            assertThat(reader.getInputStream().readAllBytes().length).isGreaterThan(LARGE);
            closing.join();
        }
        assertThat(backend.allocate(1)
                        .map(buffer -> "open")
                        .onErrorReturn("closed")
                        .block())
                .isEqualTo("closed");
    }
}
