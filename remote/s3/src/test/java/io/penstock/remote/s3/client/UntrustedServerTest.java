// SPDX-License-Identifier: Apache-2.0
package io.penstock.remote.s3.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.Backend;
import io.penstock.Backends;
import io.penstock.CommonOptions;
import io.penstock.FileOption;
import io.penstock.Options;
import io.penstock.PermanentStorageException;
import io.penstock.StorageFile;
import io.penstock.remote.s3.S3Options;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import java.security.NoSuchAlgorithmException;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicInteger;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLSocket;
import javax.net.ssl.TrustManagerFactory;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

/** A server with which the client of the Common Runtime gets no TLS; its certificate is made by the JDK's keytool. */
@Tag("once")
@ExtendWith(Certificates.class)
class UntrustedServerTest {

    private static final char[] PASSWORD = "penstock".toCharArray();

    private static final String NONE = "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";

    private static final byte[] ALERT = {21, 3, 3, 0, 2, 2, 40}; // handshake_failure

    private final SSLContext before = defaults();

    @TempDir
    private Path folder;

    private static SSLContext defaults() {
        try {
            return SSLContext.getDefault();
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException(e);
        }
    }

    @AfterEach
    void reset() {
        SSLContext.setDefault(before);
    }

    private SSLContext context() throws Exception {
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
        KeyManagerFactory own = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
        own.init(keys, PASSWORD);
        SSLContext context = SSLContext.getInstance("TLS");
        TrustManagerFactory trusted = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
        trusted.init(keys);
        context.init(own.getKeyManagers(), trusted.getTrustManagers(), null);
        return context;
    }

    /**
     * Serves the JDK, which asks whether the object is there. The connections behind it, of the client of the Common
     * Runtime, get a fatal alert: one whose certificate that client does not trust would be held by its library for 10
     * to 30 s.
     */
    private void serve(ServerSocket server, SSLContext context, AtomicInteger refused) {
        while (true) {
            try (Socket socket = server.accept()) {
                if (refused.getAndIncrement() > 0) {
                    socket.getInputStream().read(new byte[10_000]);
                    socket.getOutputStream().write(ALERT);
                } else {
                    SSLSocket secure = (SSLSocket) context.getSocketFactory().createSocket(socket, null, 0, false);
                    secure.setUseClientMode(false);
                    secure.getInputStream().read(new byte[10_000]);
                    secure.getOutputStream().write(NONE.getBytes(StandardCharsets.US_ASCII));
                }
            } catch (IOException e) {
                if (server.isClosed()) {
                    return;
                }
            }
        }
    }

    @Test
    void anUploadFailsForGood() throws Exception {
        SSLContext context = context();
        SSLContext.setDefault(context);
        AtomicInteger connections = new AtomicInteger();
        ServerSocket server = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
        Thread serving = new Thread(() -> serve(server, context, connections));
        serving.start();
        Options options = Options.none()
                .with(S3Options.ENDPOINT, "https://localhost:" + server.getLocalPort())
                .with(CommonOptions.REMOTE_ATTEMPTS, 8)
                .with(S3Options.CREDENTIALS, S3Options.Credentials.NONE);
        try (Backend backend = Backends.open("host", options);
                StorageFile object = Objects.requireNonNull(
                        backend.openFile(S3Server.uri("object"), FileOption.WRITE, FileOption.CREATE_NEW)
                                .block())) {
            assertThatThrownBy(() -> object.sync().block(Duration.ofSeconds(50)))
                    .isInstanceOf(PermanentStorageException.class)
                    .hasMessageContaining("AWS_IO_TLS_ERROR_NEGOTIATION_FAILURE");
        } finally {
            server.close();
            serving.join();
        }
        assertThat(connections.get()).as("one of them the JDK's").isLessThan(8);
    }
}
