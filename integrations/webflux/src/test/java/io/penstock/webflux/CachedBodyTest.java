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
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.security.KeyStore;
import java.security.PrivateKey;
import java.security.cert.X509Certificate;
import java.util.Arrays;
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;
import java.util.zip.GZIPInputStream;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import reactor.netty.http.Http11SslContextSpec;
import reactor.netty.http.Http2SslContextSpec;
import reactor.netty.http.HttpProtocol;
import reactor.netty.http.server.HttpServer;
import reactor.netty.tcp.SslProvider;

/** Bodies that the kernel sends: whether it does, and what others do to the file meanwhile. */
@EnabledOnOs(OS.LINUX)
class CachedBodyTest {

    private static final char[] PASSWORD = "penstock".toCharArray();
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

    /** The kernel would send it in clear, or without the frames of HTTP/2. */
    @ParameterizedTest
    @CsvSource({"https, HTTP11, HTTP_1_1", "https, H2, HTTP_2", "http, H2C, HTTP_2"})
    void whatIsEncryptedOrFramedIsRead(String scheme, HttpProtocol protocol, HttpClient.Version version)
            throws Exception {
        KeyStore keys = keys();
        HttpServer http = HttpServer.create().protocol(protocol, HttpProtocol.HTTP11);
        PrivateKey key = (PrivateKey) keys.getKey("server", PASSWORD);
        X509Certificate certificate = (X509Certificate) keys.getCertificate("server");
        TrustManagerFactory trust = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
        trust.init(keys);
        SSLContext trusting = SSLContext.getInstance("TLS");
        trusting.init(null, trust.getTrustManagers(), null);
        HttpClient client = HttpClient.newBuilder().sslContext(trusting).build();
        if (scheme.equals("https")) {
            SslProvider.GenericSslContextSpec<?> tls = protocol == HttpProtocol.H2
                    ? Http2SslContextSpec.forServer(key, certificate)
                    : Http11SslContextSpec.forServer(key, certificate);
            http = http.secure(spec -> spec.sslContext(tls));
        }
        try (TestServer server = new TestServer(new HttpFiles(watched), folder, http)) {
            HttpRequest.Builder request =
                    HttpRequest.newBuilder(URI.create(scheme + "://localhost:" + server.port() + "/large"));
            HttpResponse<byte[]> all = client.send(request.build(), HttpResponse.BodyHandlers.ofByteArray());
            assertThat(all.version()).isEqualTo(version);
            assertThat(all.body()).isEqualTo(bytes);
            HttpResponse<byte[]> range = client.send(
                    request.header("Range", "bytes=5-70000").build(), HttpResponse.BodyHandlers.ofByteArray());
            assertThat(range.statusCode()).isEqualTo(206);
            assertThat(range.body()).isEqualTo(Arrays.copyOfRange(bytes, 5, 70_001));
            assertThat(streams).hasValue(2);
        }
    }

    private KeyStore keys() throws Exception {
        Path store = folder.resolve("keys");
        String keytool =
                Path.of(System.getProperty("java.home"), "bin", "keytool").toString();
        String arguments = " -genkeypair -alias server -keyalg EC -dname CN=localhost -storetype PKCS12"
                + " -storepass penstock -ext SAN=dns:localhost -keystore " + store;
        assertThat(new ProcessBuilder((keytool + arguments).split(" "))
                        .redirectErrorStream(true)
                        .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                        .start()
                        .waitFor())
                .isZero();
        return KeyStore.getInstance(store.toFile(), PASSWORD);
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
