// SPDX-License-Identifier: Apache-2.0
package io.penstock.remote.http.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.Backend;
import io.penstock.Backends;
import io.penstock.CommonOptions;
import io.penstock.DeviceBuffer;
import io.penstock.Options;
import io.penstock.PermanentStorageException;
import io.penstock.StorageFile;
import io.penstock.Transfer;
import io.penstock.remote.http.testing.ForwardProxy;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import java.util.Base64;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CopyOnWriteArrayList;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLPeerUnverifiedException;
import javax.net.ssl.SSLServerSocket;
import javax.net.ssl.SSLSocket;
import javax.net.ssl.TrustManagerFactory;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import reactor.core.publisher.Mono;

/** {@code https:}, with a certificate that the JDK's keytool makes for localhost. */
@Tag("slow")
class TlsTest {

    private static final char[] PASSWORD = "penstock".toCharArray();

    @TempDir
    private Path folder;

    private final SSLContext before = defaults();
    private SSLContext trusting = before;
    private KeyStore keys;
    private RangeServer server;
    private byte[] data;

    private static SSLContext defaults() {
        try {
            return SSLContext.getDefault();
        } catch (java.security.NoSuchAlgorithmException e) {
            throw new IllegalStateException(e);
        }
    }

    @BeforeEach
    void start() throws Exception {
        Path store = folder.resolve("keys");
        Process keytool = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "keytool")
                                .toString(),
                        "-genkeypair",
                        "-alias",
                        "server",
                        "-keyalg",
                        "EC",
                        "-dname",
                        "CN=localhost",
                        "-ext",
                        "SAN=dns:localhost",
                        "-keystore",
                        store.toString(),
                        "-storetype",
                        "PKCS12",
                        "-storepass",
                        new String(PASSWORD))
                .redirectErrorStream(true)
                .redirectOutput(folder.resolve("said").toFile())
                .start();
        assertThat(keytool.waitFor())
                .as(Files.readString(folder.resolve("said")))
                .isZero();
        keys = KeyStore.getInstance("PKCS12");
        try (InputStream in = Files.newInputStream(store)) {
            keys.load(in, PASSWORD);
        }
        KeyManagerFactory own = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
        own.init(keys, PASSWORD);
        TrustManagerFactory trusted = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
        trusted.init(keys);
        trusting = SSLContext.getInstance("TLS");
        trusting.init(own.getKeyManagers(), trusted.getTrustManagers(), null);
        data = new byte[5_000_000];
        new Random(5).nextBytes(data);
        server = new RangeServer(
                data,
                "https",
                trusting.getServerSocketFactory().createServerSocket(0, 50, InetAddress.getLoopbackAddress()));
    }

    @AfterEach
    void stop() throws IOException {
        SSLContext.setDefault(before);
        server.close();
    }

    private static <T> T get(Mono<T> mono) {
        return mono.block();
    }

    private static Backend backend() {
        return Backends.open("host", Options.none().with(CommonOptions.REMOTE_ATTEMPTS, 1));
    }

    @Test
    void aFileArrivesByTls() {
        SSLContext.setDefault(trusting);
        try (Backend backend = backend();
                StorageFile file = get(backend.openFile(server.uri()));
                DeviceBuffer buffer = get(backend.allocate(data.length))) {
            get(backend.submit(Transfer.read(file.all(), buffer.all())));
            ByteBuffer arrived = ByteBuffer.allocateDirect(data.length);
            get(buffer.download(0, arrived.duplicate()));
            assertThat(arrived).isEqualTo(ByteBuffer.wrap(data));
        }
    }

    private String pem(String name, boolean key) throws Exception {
        Base64.Encoder lines = Base64.getMimeEncoder(64, new byte[] {'\n'});
        String certificate = lines.encodeToString(keys.getCertificate("server").getEncoded());
        String text = "a note\n-----BEGIN CERTIFICATE-----\n" + certificate + "\n-----END CERTIFICATE-----\n";
        if (key) {
            String own = lines.encodeToString(keys.getKey("server", PASSWORD).getEncoded());
            text += "-----BEGIN PRIVATE KEY-----\n" + own + "\n-----END PRIVATE KEY-----\n";
        }
        return Files.writeString(folder.resolve(name), text).toString();
    }

    private void assertOpens(RangeServer from, Options options) {
        try (Backend backend = Backends.open("host", options.with(CommonOptions.REMOTE_ATTEMPTS, 1));
                StorageFile file = get(backend.openFile(from.uri()))) {
            assertThat(file.size()).isEqualTo(data.length);
        }
    }

    private static Options trust(String store) {
        return Options.none().with("penstock.http.trust", store);
    }

    @Test
    void anOptionChoosesWhatIsTrusted() throws Exception {
        assertOpens(server, trust(pem("trusted.pem", false)));
        assertThatThrownBy(() -> assertOpens(server, Options.none()))
                .hasMessageContainingAll("the JVM's trust store", "penstock.http.trust")
                .hasMessageNotContaining("attempts");
        String missing = folder.resolve("missing.pem").toString();
        assertThatThrownBy(() -> assertOpens(server, trust(missing))).hasMessageContaining(missing);
        String empty = Files.writeString(folder.resolve("empty.pem"), "").toString();
        assertThatThrownBy(() -> assertOpens(server, trust(empty)))
                .hasMessageContaining("must have certificates, " + empty + " has none");
    }

    @Test
    void aClientCertificateIsShown() throws Exception {
        SSLServerSocket demanding = (SSLServerSocket)
                trusting.getServerSocketFactory().createServerSocket(0, 50, InetAddress.getLoopbackAddress());
        demanding.setNeedClientAuth(true);
        Options options = trust(pem("trusted.pem", false));
        try (RangeServer refusing = new RangeServer(data, "https", demanding)) {
            assertOpens(refusing, options.with("penstock.http.client-certificate", pem("own.pem", true)));
            assertThatThrownBy(() -> assertOpens(refusing, options)).hasMessageContaining("certificate");
            assertThatThrownBy(() -> assertOpens(
                            refusing, options.with("penstock.http.client-certificate", pem("keyless.pem", false))))
                    .hasMessageContainingAll("keyless.pem", "-----BEGIN PRIVATE KEY-----");
        }
    }

    /** With the attempts of the default: another one would find the same file. */
    private void assertRefused(Options options, String... message) {
        try (Backend backend = Backends.open("host", options)) {
            assertThatThrownBy(() -> get(backend.openFile(server.uri())))
                    .hasMessageContainingAll(message)
                    .hasMessageNotContaining("attempts");
        }
    }

    @Test
    void aFileThatCannotBeUsedIsRefusedAtOnceByItsNameAndItsOption() throws Exception {
        String missing = folder.resolve("missing.pem").toString();
        assertRefused(trust(missing), "penstock.http.trust=" + missing, "NoSuchFileException");
        String own = "penstock.http.client-certificate";
        assertRefused(Options.none().with(own, missing), own + "=" + missing, "NoSuchFileException");
        String text = Files.readString(Path.of(pem("own.pem", true)));
        String key = text.substring(text.indexOf("KEY-----\n") + 9, text.indexOf("\n-----END PRIVATE"));
        for (String bad : new String[] {"AAAAA", "AAAA"}) { // not Base64, and no key
            String file = Files.writeString(folder.resolve("bad.pem"), text.replace(key, bad))
                    .toString();
            assertRefused(Options.none().with(own, file), own + "=" + file);
        }
        String certificate = Files.writeString(
                        folder.resolve("bad.pem"), "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----")
                .toString();
        assertRefused(trust(certificate), "penstock.http.trust=" + certificate);
        assertRefused(trust("\0"), "penstock.http.trust=\0");
    }

    @Test
    void aClientCertificateIsNotShownWhereARedirectionLeads() throws Exception {
        List<Boolean> shown = new CopyOnWriteArrayList<>();
        SSLServerSocket asking = (SSLServerSocket)
                trusting.getServerSocketFactory().createServerSocket(0, 50, InetAddress.getLoopbackAddress());
        asking.setWantClientAuth(true);
        ServerSocket watched = new ServerSocket() {
            @Override
            public Socket accept() throws IOException {
                SSLSocket socket = (SSLSocket) asking.accept();
                socket.startHandshake();
                shown.add(hasPeer(socket));
                return socket;
            }

            @Override
            public int getLocalPort() {
                return asking.getLocalPort();
            }

            @Override
            public void close() throws IOException {
                asking.close();
            }
        };
        Options options =
                trust(pem("trusted.pem", false)).with("penstock.http.client-certificate", pem("own.pem", true));
        try (RangeServer other = new RangeServer(data, "https", watched)) {
            assertOpens(other, options);
            server.answer = (request, to) -> {
                to.write(RangeServer.text("302 Found", "Location: " + other.uri(), "Content-Length: 0"));
                return true;
            };
            assertOpens(server, options);
        }
        assertThat(shown).containsExactly(true, false);
    }

    private static boolean hasPeer(SSLSocket socket) {
        try {
            return socket.getSession().getPeerCertificates().length > 0;
        } catch (SSLPeerUnverifiedException e) {
            return false;
        }
    }

    /** Whose bytes it does not see; it resolves the name. */
    @Test
    void aFileArrivesThroughATunnel() throws IOException {
        SSLContext.setDefault(trusting);
        try (ForwardProxy proxy = new ForwardProxy(server.uri().getPort(), null)) {
            System.setProperty("https.proxyHost", "127.0.0.1");
            System.setProperty("https.proxyPort", proxy.address().substring(10));
            System.setProperty("http.nonProxyHosts", "");
            try (Backend backend = backend();
                    StorageFile file = get(backend.openFile(server.uri()))) {
                assertThat(file.size()).isEqualTo(data.length);
            } finally {
                System.clearProperty("https.proxyHost");
                System.clearProperty("https.proxyPort");
                System.clearProperty("http.nonProxyHosts");
            }
            assertThat(proxy.requests)
                    .containsExactly("CONNECT localhost:" + server.uri().getPort() + " HTTP/1.1");
        }
    }

    /** The environment is read once for a process, and has the password. */
    @Test
    void aTunnelIsOpenedWithUserAndPassword() throws Exception {
        try (ForwardProxy proxy = new ForwardProxy(server.uri().getPort(), "user:secret")) {
            String hidden = "https://localhost:" + server.uri().getPort() + "/file.bin";
            assertThat(opening(hidden, "http://user:secret@" + proxy.address())).contains(data.length + " bytes");
            String connect = "CONNECT localhost:" + server.uri().getPort() + " HTTP/1.1";
            assertThat(proxy.requests).containsExactly(connect);
            assertThat(opening(hidden, "http://user:wrong-one@" + proxy.address()))
                    .contains(
                            "the proxy " + proxy.address() + " answered PROXY_AUTHENTICATION_REQUIRED (407)",
                            "it refuses the user and password")
                    .doesNotContain("attempts", "wrong-one");
            assertThat(proxy.requests).containsExactly(connect, connect);
        }
    }

    private String opening(String uri, String proxy) throws Exception {
        ProcessBuilder process = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-XX:TieredStopAtLevel=1",
                        "-Dpenstock.http.trust=" + pem("trusted.pem", false),
                        "-cp",
                        System.getProperty("surefire.test.class.path", System.getProperty("java.class.path")),
                        Opening.class.getName(),
                        uri)
                .redirectErrorStream(true);
        process.environment().put("https_proxy", proxy);
        process.environment().remove("no_proxy");
        process.environment().remove("NO_PROXY");
        Process started = process.start();
        String output = new String(started.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(started.waitFor()).as(output).isZero();
        return output;
    }

    @Test
    void aCertificateThatIsNotTrustedOrOfAnotherHostIsRefused() {
        try (Backend backend = backend()) {
            assertThatThrownBy(() -> get(backend.openFile(server.uri()))).hasMessageContaining("SSLHandshakeException");
            SSLContext.setDefault(trusting);
            URI other = URI.create(server.uri().toString().replace("localhost", "127.0.0.1"));
            assertThatThrownBy(() -> get(backend.openFile(other))).hasMessageContaining("SSLHandshakeException");
        }
    }

    @Test
    void aCertificateThatIsRefusedIsNotTriedAgain() {
        SSLContext.setDefault(trusting);
        try (Backend backend = Backends.open("host");
                StorageFile file = get(backend.openFile(server.uri()));
                DeviceBuffer buffer = get(backend.allocate(data.length))) {
            int opened = server.connections.get();
            SSLContext.setDefault(before);
            assertThatThrownBy(() -> get(
                            backend.openFile(URI.create(server.uri().toString().replace("localhost", "127.0.0.1")))))
                    .hasMessageContaining("SSLHandshakeException")
                    .hasMessageNotContaining("attempts");
            assertThat(server.connections).hasValue(opened + 1);
            assertThatThrownBy(() -> get(backend.submit(Transfer.read(file.all(), buffer.all()))))
                    .isInstanceOf(PermanentStorageException.class)
                    .hasMessageContaining("SSLHandshakeException");
        }
    }

    /**
     * Whose alert arrives before the request is sent, or behind it, or when the server has closed its end already.
     * Patches of the JDK name it {@code bad_certificate} or {@code certificate_required}.
     */
    @Test
    void aServerThatDemandsACertificateSaysSo() throws Exception {
        SSLContext anonymous = SSLContext.getInstance("TLS");
        TrustManagerFactory trusted = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
        trusted.init(keys);
        anonymous.init(null, trusted.getTrustManagers(), null);
        SSLContext.setDefault(anonymous);
        SSLServerSocket demanding = (SSLServerSocket)
                trusting.getServerSocketFactory().createServerSocket(0, 50, InetAddress.getLoopbackAddress());
        demanding.setNeedClientAuth(true);
        try (RangeServer refusing = new RangeServer(data, "https", demanding);
                Backend backend = backend()) {
            for (int i = 0; i < 50; i++) {
                assertThatThrownBy(() -> get(backend.openFile(refusing.uri())))
                        .hasMessageMatching("(?s).*fatal alert: \\w*certificate.*");
            }
        }
    }

    /** In a process of its own, since the JDK reads them once. */
    @Test
    void settingsOfTlsThatCannotBeReadAreNamed() throws Exception {
        Process process = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-Djavax.net.ssl.keyStore=" + folder.resolve("missing"),
                        "-cp",
                        System.getProperty("surefire.test.class.path", System.getProperty("java.class.path")),
                        Opening.class.getName(),
                        server.uri().toString())
                .redirectErrorStream(true)
                .start();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor()).as(output).isZero();
        assertThat(output)
                .contains("https://localhost", "javax.net.ssl.trustStore and keyStore must name readable stores")
                .doesNotContain("attempts");
    }

    /** Opens a file, and prints its length, or why it cannot be opened. */
    static final class Opening {

        private Opening() {}

        public static void main(String[] arguments) {
            try (Backend backend = Backends.open("host")) {
                System.out.println(get(backend.openFile(URI.create(arguments[0]))
                        .map(file -> {
                            try (file) {
                                return file.size() + " bytes";
                            }
                        })
                        .onErrorResume(failure -> Mono.just(failure.toString()))));
            }
        }
    }
}
