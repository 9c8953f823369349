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
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import reactor.blockhound.BlockHound;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

@EnabledOnOs(OS.LINUX) // descriptors are counted in /proc
@Timeout(value = 5, unit = TimeUnit.MINUTES) // each test starts an application
class FileServerTest {

    private static final int LARGE = 64 << 20;

    private static final Path DASHBOARD =
            Path.of(System.getProperty("dashboard", "../../integrations/micrometer/grafana/penstock.json"));

    private static final Queue<String> BLOCKED = new ConcurrentLinkedQueue<>();

    @TempDir
    Path folder;

    private final byte[] bytes = new byte[3_000_000];
    private RunningServer server;

    @BeforeAll
    static void watch() {
        Backends.open("host").close(); // JNA binds natives by names that BlockHound changes: bind them first
        endParallelThreads();
        BlockHound.builder()
                .loadIntegrations()
                // Without io_uring: how an I/O queue waits for work, and how it passes calls to its threads.
                .allowBlockingCallsInside("io.penstock.engine.spi.Wakeup", "await")
                .allowBlockingCallsInside("io.penstock.engine.host.queue.ChannelQueue", "enqueue")
                .allowBlockingCallsInside("io.penstock.engine.host.queue.ChannelQueue", "cancel")
                .blockingMethodCallback(method -> BLOCKED.add(method + " on "
                        + Thread.currentThread().getName() + " at "
                        + Arrays.toString(new Exception().getStackTrace())))
                .install();
        Mono.fromCallable(FileServerTest::block)
                .subscribeOn(Schedulers.parallel())
                .block();
        assertThat(BLOCKED).as("what BlockHound must see").hasSize(1);
    }

    /** One that waits for the limit of that close would do so in code that BlockHound does not change any more. */
    private static void endParallelThreads() {
        Schedulers.shutdownNow();
        while (Thread.getAllStackTraces().keySet().stream()
                .anyMatch(thread -> thread.getName().startsWith("parallel-"))) {
            Thread.onSpinWait();
        }
    }

    private static boolean block() throws InterruptedException {
        Thread.sleep(1);
        return true;
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
        LiveLeases.awaitNone();
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
        for (String nothing : List.of("/files/..%2Fdata", "/files", "/files/")) {
            assertThat(server.send(server.to(nothing)).statusCode()).as(nothing).isEqualTo(404);
        }
    }

    /** By the backend: the kernel sends a whole file, or one range. */
    private void readAll() throws Exception {
        server.send(server.to("/files/data").header("Range", "bytes=1-,0-0"));
    }

    @Test
    void healthAndMetersAreThere() throws Exception {
        readAll();
        assertThat(text("/actuator/health")).contains("\"status\":\"UP\"", "\"penstock\"", "\"backend\":\"host\"");
        assertThat(text("/actuator/prometheus"))
                .contains("http_server_requests_seconds_count", "/files/{*name}")
                .containsPattern(
                        "penstock_transfers_moved_bytes_total\\{backend=\"host\",operation=\"read\",path=\"host\"} [3-9]");
    }

    @Test
    void theDashboardShowsMetersThatThereAre() throws Exception {
        readAll();
        String scraped = text("/actuator/prometheus");
        Matcher meter = Pattern.compile("penstock_\\w+").matcher(Files.readString(DASHBOARD));
        Set<String> shown = meter.results().map(MatchResult::group).collect(Collectors.toCollection(TreeSet::new));
        assertThat(shown)
                .hasSizeGreaterThan(6)
                .allSatisfy(name -> assertThat(scraped).contains('\n' + name + '{'));
    }

    @Test
    void eachPanelOfTheDashboardHasALegend() throws Exception {
        String dashboard = Files.readString(DASHBOARD).replaceAll("\\s", "");
        assertThat(Pattern.compile("\"legend\":\\{").matcher(dashboard).results())
                .hasSizeGreaterThan(6);
        assertThat(Pattern.compile("\"legend\":\\{(?!\"showLegend\":true)")
                        .matcher(dashboard)
                        .results())
                .as("Grafana's schema demands showLegend")
                .isEmpty();
    }

    private String text(String path) throws Exception {
        return new String(server.send(server.to(path)).body(), StandardCharsets.UTF_8);
    }

    @Test
    @Tag("once")
    @Tag("slow") // half a minute
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
