// SPDX-License-Identifier: Apache-2.0
package io.penstock.remote.s3.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.Backend;
import io.penstock.Backends;
import io.penstock.CommonOptions;
import io.penstock.DeviceBuffer;
import io.penstock.PermanentStorageException;
import io.penstock.StorageFile;
import io.penstock.Transfer;
import io.penstock.TransientStorageException;
import io.penstock.remote.s3.S3Options;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import reactor.core.Disposable;
import reactor.core.publisher.Mono;

/** Reads of a server that does not answer end when a cancel, a deadline or a time limit does, and leave nothing open. */
@Tag("once")
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
        for (int i = 0; i < 1000 && backend.counters().buffers() > 0; i++) {
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
