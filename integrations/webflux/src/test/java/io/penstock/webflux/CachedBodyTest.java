// SPDX-License-Identifier: Apache-2.0
package io.penstock.webflux;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeFalse;

import io.penstock.Backend;
import io.penstock.Backends;
import io.penstock.engine.stream.LiveLeases;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.Socket;
import java.net.http.HttpResponse;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;
import java.util.zip.GZIPInputStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import reactor.netty.http.server.HttpServer;

/** Bodies that the kernel sends: whether it does, and what others do to the file meanwhile. */
@EnabledOnOs(OS.LINUX)
class CachedBodyTest {

    private static final int LARGE = 24 << 20; // more than sockets take at once

    @TempDir
    Path folder;

    private final byte[] bytes = new byte[LARGE];
    private final AtomicInteger streams = new AtomicInteger();
    private Backend host;
    private Backend watched;

    @BeforeEach
    void open() throws IOException {
        new Random(4).nextBytes(bytes);
        Files.write(folder.resolve("large"), bytes);
        host = Backends.open("host");
        watched = Watched.backend(host, (method, arguments) -> {
            if (method.equals("stream")) {
                streams.incrementAndGet();
            }
        });
        assumeFalse(host.isFallback(), "without io_uring, files are the JDK's channels");
    }

    @AfterEach
    void close() {
        while (host.counters().files() > 0) { // closed behind the last byte, which the client has by now
            assertThat(Thread.interrupted()).as("still open").isFalse(); // by the time limit of tests
            LockSupport.parkNanos(1_000_000);
        }
        host.close();
        LiveLeases.awaitNone();
    }

    @Test
    void whatIsInThePageCacheIsNotRead() throws Exception {
        try (TestServer server = new TestServer(new HttpFiles(watched), folder)) {
            assertThat(server.get("large").body()).isEqualTo(bytes);
            assertThat(server.get("large", "Range", "bytes=5-70000").body())
                    .isEqualTo(Arrays.copyOfRange(bytes, 5, 70_001));
            assertThat(streams).hasValue(0);
            server.get("large", "Range", "bytes=0-1,9-10");
            assertThat(streams).as("several parts").hasPositiveValue();
        }
    }

    @Test
    void whatTheServerCompressesIsRead() throws Exception {
        Files.writeString(folder.resolve("text"), "words ".repeat(50_000));
        HttpServer compressing = HttpServer.create().compress(true);
        try (TestServer server = new TestServer(new HttpFiles(watched), folder, compressing)) {
            HttpResponse<byte[]> answer = server.get("text", "Accept-Encoding", "gzip");
            assertThat(answer.headers().firstValue("Content-Encoding")).hasValue("gzip");
            try (InputStream text = new GZIPInputStream(new ByteArrayInputStream(answer.body()))) {
                assertThat(text.readAllBytes()).asString().isEqualTo("words ".repeat(50_000));
            }
            assertThat(streams).hasValue(1);
        }
    }

    @Test
    void withoutSendfileAllIsRead() throws Exception {
        try (TestServer server = new TestServer(new HttpFiles(watched).sendfile(false), folder)) {
            assertThat(server.get("large").body()).isEqualTo(bytes);
            assertThat(streams).hasValue(1);
        }
    }

    /** Asks, and returns the body once {@code meanwhile} has run, before which most of it cannot have been sent. */
    private static InputStream ask(Socket socket) throws IOException {
        socket.setReceiveBufferSize(1 << 16);
        socket.getOutputStream()
                .write("GET /large HTTP/1.1\r\nHost: localhost\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
        InputStream answer = socket.getInputStream();
        StringBuilder head = new StringBuilder();
        while (head.indexOf("\r\n\r\n") < 0) {
            head.append((char) answer.read());
        }
        assertThat(head).startsWith("HTTP/1.1 200").containsIgnoringCase("content-length: " + LARGE);
        return answer;
    }

    @Test
    void aFileThatIsReplacedMeanwhileIsSentAsItWas() throws Exception {
        try (TestServer server = new TestServer(new HttpFiles(watched), folder);
                Socket socket = new Socket("localhost", server.port())) {
            InputStream body = ask(socket);
            Path other = Files.write(folder.resolve("other"), new byte[LARGE]);
            Files.move(other, folder.resolve("large"), StandardCopyOption.REPLACE_EXISTING);
            assertThat(body.readNBytes(LARGE)).isEqualTo(bytes);
            assertThat(streams).hasValue(0);
        }
    }

    @Test
    void aFileThatBecomesShorterMeanwhileEndsTheConnection() throws Exception {
        try (TestServer server = new TestServer(new HttpFiles(watched), folder);
                Socket socket = new Socket("localhost", server.port())) {
            InputStream body = ask(socket);
            try (FileChannel file = FileChannel.open(folder.resolve("large"), StandardOpenOption.WRITE)) {
                file.truncate(LARGE / 2);
            }
            int got = 0;
            try {
                got = body.readNBytes(LARGE).length; // to the end of the connection
            } catch (IOException reset) {
                // as well
            }
            assertThat(got).isLessThan(LARGE);
            assertThat(streams).hasValue(0);
        }
    }

    @Test
    void clientsThatHangUpLeaveNothingOpen() throws Exception {
        try (TestServer server = new TestServer(new HttpFiles(watched), folder)) {
            for (int i = 0; i < 50; i++) {
                try (Socket socket = new Socket("localhost", server.port())) {
                    ask(socket);
                }
            }
            while (isOpen("large")) {
                assertThat(Thread.interrupted()).as("still open").isFalse(); // by the time limit of tests
                LockSupport.parkNanos(1_000_000);
            }
            assertThat(streams).hasValue(0);
        }
    }

    private boolean isOpen(String name) throws IOException {
        Path file = folder.resolve(name).toRealPath();
        try (Stream<Path> descriptors = Files.list(Path.of("/proc/self/fd"))) {
            return descriptors.anyMatch(descriptor -> {
                try {
                    return Files.readSymbolicLink(descriptor).equals(file);
                } catch (IOException closed) {
                    return false;
                }
            });
        }
    }
}
