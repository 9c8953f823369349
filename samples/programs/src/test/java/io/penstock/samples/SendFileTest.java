// SPDX-License-Identifier: Apache-2.0
package io.penstock.samples;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.Backend;
import io.penstock.Backends;
import java.io.IOException;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.Arrays;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import reactor.netty.DisposableServer;
import reactor.netty.http.client.HttpClient;

/** SendFile, which sends out of host memory. */
class SendFileTest {

    @TempDir
    Path folder;

    private Backend backend;
    private Map<String, Long> before;

    /** What Netty keeps for the process is no leak. */
    @BeforeAll
    static void startNetty(@TempDir Path folder) throws IOException {
        Path small = Files.writeString(folder.resolve("small"), "bytes");
        try (Backend backend = Backends.open("host")) {
            DisposableServer server = SendFile.start(backend, small, 0);
            try {
                assertThat(get(server)).asString().isEqualTo("bytes");
            } finally {
                server.disposeNow();
            }
        }
    }

    @BeforeEach
    void open() {
        before = HostProbe.of(folder).count(); // before it is open: its threads start when they are needed
        backend = Backends.open("host");
    }

    @AfterEach
    void closeAndLookForLeaks() {
        backend.close();
        HostProbe.of(folder).awaitNoMoreThan(before, Duration.ofSeconds(20));
    }

    @Test
    void sendFile() throws IOException {
        byte[] data = new byte[9_000_001];
        new Random(1).nextBytes(data);
        Path file = Files.write(folder.resolve("file"), data);
        DisposableServer server = SendFile.start(backend, file, 0);
        try {
            assertThat(Arrays.equals(get(server), data)).isTrue();
        } finally {
            server.disposeNow();
        }
    }

    private static byte[] get(DisposableServer server) {
        return HttpClient.newConnection()
                .port(server.port())
                .get()
                .uri("/")
                .responseSingle((response, body) -> {
                    assertThat(response.status().code()).isEqualTo(200);
                    return body.asByteArray();
                })
                .block();
    }

    @Test
    void sendFileToAClientThatHangsUp() throws IOException {
        Path large = folder.resolve("large"); // more than sockets hold
        try (var sparse = FileChannel.open(large, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE)) {
            sparse.write(ByteBuffer.allocate(1), 64 << 20);
        }
        DisposableServer server = SendFile.start(backend, large, 0);
        try (Socket client = new Socket("localhost", server.port())) {
            client.getOutputStream().write("GET / HTTP/1.1\r\nHost: a\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
            assertThat(client.getInputStream().readNBytes(100_000)).hasSize(100_000);
        } finally {
            server.disposeNow();
        }
    }
}
