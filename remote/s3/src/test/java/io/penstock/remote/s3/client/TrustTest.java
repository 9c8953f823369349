// SPDX-License-Identifier: Apache-2.0
package io.penstock.remote.s3.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.Backend;
import io.penstock.Backends;
import io.penstock.DeviceBuffer;
import io.penstock.FileOption;
import io.penstock.Options;
import io.penstock.StorageFile;
import io.penstock.Transfer;
import io.penstock.remote.s3.S3Options;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import java.time.Duration;
import java.util.Base64;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLServerSocket;
import javax.net.ssl.TrustManagerFactory;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import reactor.core.publisher.Mono;
import software.amazon.awssdk.crt.CrtResource;
import software.amazon.awssdk.crt.io.EventLoopGroup;

/** One option chooses the authorities of reads and of writes; the certificate is made by the JDK's keytool. */
@Tag("once")
@ExtendWith(Certificates.class)
class TrustTest {

    private static final char[] PASSWORD = "penstock".toCharArray();
    private static final int BYTES = 12 << 20; // two parts

    @TempDir
    private Path folder;

    private static <T> T get(Mono<T> mono) {
        return mono.block(Duration.ofSeconds(60));
    }

    private KeyStore keys() throws Exception {
        Path store = folder.resolve("keys");
        String keytool =
                Path.of(System.getProperty("java.home"), "bin", "keytool").toString();
        String dressed = "-genkeypair -alias server -keyalg EC -dname CN=localhost -ext SAN=dns:localhost"
                + " -storetype PKCS12 -storepass penstock -keystore ";
        Process made = new ProcessBuilder((keytool + " " + dressed + store).split(" "))
                .redirectErrorStream(true)
                .redirectOutput(folder.resolve("said").toFile())
                .start();
        assertThat(made.waitFor()).as(Files.readString(folder.resolve("said"))).isZero();
        KeyStore keys = KeyStore.getInstance("PKCS12");
        try (InputStream in = Files.newInputStream(store)) {
            keys.load(in, PASSWORD);
        }
        return keys;
    }

    /** Writes the certificate to a file, behind it its key if that is wanted. */
    private Path pem(KeyStore keys, boolean key) throws Exception {
        Base64.Encoder lines = Base64.getMimeEncoder(64, new byte[] {'\n'});
        String text = "-----BEGIN CERTIFICATE-----\n"
                + lines.encodeToString(keys.getCertificate("server").getEncoded())
                + "\n-----END CERTIFICATE-----\n";
        String own = "-----BEGIN PRIVATE KEY-----\n"
                + lines.encodeToString(keys.getKey("server", PASSWORD).getEncoded())
                + "\n-----END PRIVATE KEY-----\n";
        return Files.writeString(folder.resolve(key ? "own.pem" : "trusted.pem"), key ? text + own : text);
    }

    private static SSLServerSocket listening(KeyStore keys) throws Exception {
        KeyManagerFactory own = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
        own.init(keys, PASSWORD);
        SSLContext context = SSLContext.getInstance("TLS");
        TrustManagerFactory trusted = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
        trusted.init(keys);
        context.init(own.getKeyManagers(), trusted.getTrustManagers(), null);
        return (SSLServerSocket)
                context.getServerSocketFactory().createServerSocket(0, 50, InetAddress.getLoopbackAddress());
    }

    /** Passes on what arrives by TLS. */
    private static void terminate(SSLServerSocket tls, int server) {
        thread(() -> {
            while (true) {
                Socket client = tls.accept();
                thread(() -> {
                    try (client;
                            Socket to = new Socket(InetAddress.getLoopbackAddress(), server)) {
                        thread(() -> {
                            try (client) {
                                to.getInputStream().transferTo(client.getOutputStream());
                            }
                        });
                        client.getInputStream().transferTo(to.getOutputStream());
                    }
                });
            }
        });
    }

    private interface Body {
        void run() throws IOException;
    }

    private static void thread(Body body) {
        Thread thread = new Thread(() -> {
            try {
                body.run();
            } catch (IOException e) {
                // one of both has gone
            }
        });
        thread.setDaemon(true);
        thread.start();
    }

    private static void write(Options options) {
        try (Backend backend = Backends.open("host", options);
                DeviceBuffer buffer = get(backend.allocate(BYTES));
                StorageFile object = get(backend.openFile(
                        S3Server.uri("object"), FileOption.WRITE, FileOption.CREATE, FileOption.TRUNCATE))) {
            get(backend.submit(Transfer.write(buffer.all(), object.region(0, BYTES))));
            get(object.sync());
        }
    }

    @Test
    void anObjectIsWrittenToAServerWhoseAuthorityIsNamed() throws Exception {
        KeyStore keys = keys();
        Path pem = pem(keys, false);
        S3Server server = new S3Server(true);
        try (SSLServerSocket tls = listening(keys)) {
            terminate(tls, server.proxy.uri().getPort());
            Options options = Options.none().with(S3Options.ENDPOINT, "https://localhost:" + tls.getLocalPort());
            write(options.with("penstock.http.trust", pem.toString()));
            assertThat(server.get("object")).hasSize(BYTES);
            assertThatThrownBy(() -> write(options))
                    .hasMessageContainingAll("the JVM's trust store", "penstock.http.trust")
                    .hasMessageNotContaining("attempts");
            assertThatThrownBy(() -> write(options.with("penstock.http.trust", "system")))
                    .hasMessageContaining("the system's trust store");
        } finally {
            server.stop();
        }
    }

    @Test
    void aCertificateOfTheClientIsShownByReadsAndWrites() throws Exception {
        KeyStore keys = keys();
        S3Server server = new S3Server(true);
        try (SSLServerSocket tls = listening(keys)) {
            tls.setNeedClientAuth(true);
            terminate(tls, server.proxy.uri().getPort());
            write(Options.none()
                    .with(S3Options.ENDPOINT, "https://localhost:" + tls.getLocalPort())
                    .with("penstock.http.trust", pem(keys, false).toString())
                    .with("penstock.http.client-certificate", pem(keys, true).toString()));
            assertThat(server.get("object")).hasSize(BYTES);
        } finally {
            server.stop();
        }
    }

    /** A server without TLS is reached, so that the client of the Common Runtime is the first that reads the file. */
    @Test
    void aMissingFileOfCertificatesLeavesNoNativeMemory() throws Exception {
        S3Server server = new S3Server(true);
        try {
            String missing = folder.resolve("missing.pem").toString();
            String output = OtherProcess.output(
                    TrustTest.class,
                    environment -> {},
                    "-Daws.crt.debugnative=true",
                    "-Dpenstock.s3.endpoint=" + server.proxy.uri(),
                    "-Dpenstock.http.trust=" + missing);
            assertThat(output)
                    .contains("penstock.http.trust=" + missing, ".EventLoopGroup allocated")
                    .doesNotContain(".TlsContextOptions allocated");
        } finally {
            server.stop();
        }
    }

    /** Opens an object to write it, and prints why it cannot, and what native memory is left. */
    public static void main(String[] arguments) {
        try (Backend backend = Backends.open("host")) {
            backend.openFile(S3Server.uri("object"), FileOption.WRITE, FileOption.CREATE, FileOption.TRUNCATE)
                    .block();
        } catch (RuntimeException e) {
            System.out.println(e + " " + e.getCause());
        }
        try (EventLoopGroup shown = new EventLoopGroup(1)) {
            CrtResource.collectNativeResources(left -> System.out.println("left: " + left));
            System.out.println("beside one that is there: " + !shown.isNull());
        }
    }
}
