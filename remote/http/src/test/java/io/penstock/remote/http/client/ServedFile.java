// SPDX-License-Identifier: Apache-2.0
package io.penstock.remote.http.client;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.Backend;
import io.penstock.Backends;
import io.penstock.DeviceBuffer;
import io.penstock.Options;
import io.penstock.PenstockException;
import io.penstock.StorageFile;
import io.penstock.Transfer;
import java.io.IOException;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import reactor.core.publisher.Mono;

/** A server of a file and a backend that reads it, for each test; each must leave nothing open. */
abstract class ServedFile {

    private final byte[] bytes;

    RangeServer server;
    Backend backend;

    ServedFile(byte[] bytes) {
        this.bytes = bytes;
    }

    @BeforeEach
    void open() throws IOException {
        server = new RangeServer(bytes);
        backend = backend(Options.none());
    }

    @AfterEach
    void close() throws IOException {
        server.close();
        assertThat(backend.counters().files()).isZero();
        assertThat(backend.counters().buffers()).isZero();
        backend.close();
    }

    static Backend backend(Options options) {
        return Backends.open("host", options.with("penstock.close-timeout", "2s"));
    }

    static <T> T get(Mono<T> mono) {
        return mono.block(Duration.ofSeconds(30));
    }

    /** Returns why a read of the whole file fails. */
    PenstockException failure() {
        try (StorageFile file = get(backend.openFile(server.uri()));
                DeviceBuffer buffer = get(backend.allocate(bytes.length))) {
            try {
                get(backend.submit(Transfer.read(file.all(), buffer.all())));
            } catch (PenstockException e) {
                return e;
            }
        }
        throw new AssertionError("did not fail");
    }
}
