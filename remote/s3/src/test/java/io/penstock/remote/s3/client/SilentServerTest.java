// SPDX-License-Identifier: Apache-2.0
package io.penstock.remote.s3.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.Backend;
import io.penstock.Backends;
import io.penstock.CommonOptions;
import io.penstock.DeviceBuffer;
import io.penstock.FileOption;
import io.penstock.PermanentStorageException;
import io.penstock.StorageFile;
import io.penstock.Transfer;
import io.penstock.TransientStorageException;
import io.penstock.remote.s3.S3Options;
import java.io.EOFException;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import reactor.core.Disposable;
import reactor.core.publisher.Mono;

/**
 * Reads of a server that does not answer end when a cancel, a deadline or a time limit does, and leave nothing open.
 */
@Tag("once")
@ExtendWith(Certificates.class)
class SilentServerTest {

    private static final int BYTES = 9_000_001;

    private S3Server server;
    private Backend backend;

    @BeforeEach
    void open() throws Exception {
        server = new S3Server(false);
        server.put("object", new byte[BYTES]);
        backend = open(Duration.ofSeconds(60)); // longer than the tests wait
    }

    private Backend open(Duration timeout) {
        return Backends.open(
                "host",
                server.options()
                        .with(S3Options.CREDENTIALS, S3Options.Credentials.NONE)
                        .with(CommonOptions.REMOTE_ATTEMPTS, 1)
                        .with(CommonOptions.REMOTE_TIMEOUT, timeout));
    }

    @AfterEach
    void close() throws Exception {
        server.stop();
        assertThat(backend.counters().files()).isZero();
        assertThat(backend.counters().buffers()).isZero();
        backend.close();
    }

    private static <T> T get(Mono<T> mono) {
        return mono.block(Duration.ofSeconds(30));
    }

    @Test
    void aCancelEndsAReadOfASilentServer() throws InterruptedException {
        CountDownLatch asked = new CountDownLatch(3);
        server.proxy.fault = (request, to) -> {
            if (request.kind.equals("OPEN")) {
                return false;
            }
            FaultProxy.Response response = server.proxy.forward(request);
            to.write(FaultProxy.text(response.head));
            to.write(response.body, 0, 1000);
            to.flush();
            asked.countDown();
            FaultProxy.sleep(60_000);
            return true;
        };
        StorageFile file = get(backend.openFile(S3Server.uri("object")));
        DeviceBuffer buffer = get(backend.allocate(BYTES));
        Disposable reading =
                backend.submit(Transfer.read(file.all(), buffer.all())).subscribe();
        assertThat(asked.await(20, TimeUnit.SECONDS)).isTrue();
        reading.dispose();
        file.close();
        buffer.close();
        for (int i = 0; i < 1000 && backend.counters().inFlight() > 0; i++) { // the last that it gives back
            FaultProxy.sleep(10);
        }
        assertThat(backend.counters().buffers()).isZero();
        assertThat(backend.counters().inFlight()).isZero();
    }

    @Test
    void aDeadlineEndsAReadOfASilentServer() {
        server.proxy.fault = (request, to) -> {
            if (request.kind.equals("GET")) {
                FaultProxy.sleep(60_000);
            }
            return false;
        };
        try (StorageFile file = get(backend.openFile(S3Server.uri("object")));
                DeviceBuffer buffer = get(backend.allocate(BYTES))) {
            Transfer transfer = Transfer.read(file.all(), buffer.all()).deadline(Duration.ofMillis(200));
            assertThatThrownBy(() -> get(backend.submit(transfer)))
                    .isInstanceOf(PermanentStorageException.class)
                    .hasMessageContaining("exceeded its deadline");
        }
    }

    /** Each byte would end a silence. */
    @ParameterizedTest
    @ValueSource(strings = {"head", "body"})
    void aServerThatSendsAByteNowAndThenIsGivenUp(String part) {
        backend.close();
        backend = open(Duration.ofSeconds(1));
        server.proxy.fault = (request, to) -> {
            boolean drips = request.kind.equals("GET");
            if (drips && part.equals("body")) {
                FaultProxy.Response response = server.proxy.forward(request);
                to.write(FaultProxy.text(response.head));
                drip(to, response.body);
            } else if (drips) {
                drip(to, "HTTP/1.1 206 Partial Content\r\nA: ".getBytes(StandardCharsets.ISO_8859_1));
            }
            return drips;
        };
        try (StorageFile file = get(backend.openFile(S3Server.uri("object")));
                DeviceBuffer buffer = get(backend.allocate(BYTES))) {
            assertThatThrownBy(() -> get(backend.submit(Transfer.read(file.all(), buffer.all()))))
                    .isInstanceOf(TransientStorageException.class)
                    .hasMessageContaining("GetObject");
        }
    }

    /** The client of uploads is another one, with a lowest rate. */
    @ParameterizedTest
    @ValueSource(strings = {"PutObject", "CreateMultipartUpload", "UploadPart"})
    void aServerThatAnswersAnUploadByAByteNowAndThenIsGivenUp(String operation) throws Exception {
        backend.close();
        backend = Backends.open(
                "host",
                server.options()
                        .with(S3Options.CREDENTIALS, S3Options.Credentials.NONE)
                        .with(S3Options.PART_BYTES, 5L << 20)
                        .with(CommonOptions.REMOTE_ATTEMPTS, 2)
                        .with(CommonOptions.REMOTE_TIMEOUT, Duration.ofSeconds(3)));
        server.proxy.fault = (request, to) -> {
            boolean part = request.target.contains("uploadId");
            boolean drips = switch (operation) {
                case "PutObject" -> request.kind.equals("PUT");
                case "UploadPart" -> request.kind.equals("PUT") && part;
                default -> request.kind.equals("POST");
            };
            if (drips) {
                drip(to, "HTTP/1.1 200 OK\r\nA: ".getBytes(StandardCharsets.ISO_8859_1));
            }
            return drips;
        };
        boolean whole = operation.equals("PutObject");
        try (StorageFile file = get(backend.openFile(
                        S3Server.uri("new"), FileOption.WRITE, FileOption.CREATE, FileOption.TRUNCATE));
                DeviceBuffer buffer = get(backend.allocate(whole ? 1000 : 5 << 20))) {
            Mono<Void> written = backend.submit(Transfer.write(buffer.all(), file.region(0, buffer.length())))
                    .then(whole ? file.sync() : Mono.empty());
            assertThatThrownBy(() -> get(written))
                    .isInstanceOf(TransientStorageException.class)
                    .hasMessageContaining(operation);
        }
    }

    /** Sends bytes, and the last of them again, each soon after the last: until the client hangs up. */
    private static void drip(OutputStream to, byte[] bytes) throws IOException {
        for (int i = 0; i < 1200; i++) {
            to.write(bytes[Math.min(i, bytes.length - 1)]);
            to.flush();
            FaultProxy.sleep(50);
        }
        throw new EOFException("it closes the connection");
    }

    @Test
    void aSilentServerIsGivenUp() {
        backend.close();
        backend = open(Duration.ofSeconds(1));
        server.proxy.fault = (request, to) -> {
            if (request.kind.equals("GET")) {
                FaultProxy.sleep(60_000);
            }
            return false;
        };
        try (StorageFile file = get(backend.openFile(S3Server.uri("object")));
                DeviceBuffer buffer = get(backend.allocate(BYTES))) {
            assertThatThrownBy(() -> get(backend.submit(Transfer.read(file.all(), buffer.all()))))
                    .isInstanceOf(TransientStorageException.class)
                    .hasMessageContaining(
                            "GetObject -> java.net.SocketTimeoutException: the server was silent for 1000 ms");
        }
    }
}
