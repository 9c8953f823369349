// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.gpu.peer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIOException;

import java.io.IOException;
import java.net.SocketException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The way to an exporter. */
class IpcImportTest {

    @TempDir
    Path folder;

    private final List<SocketChannel> waiting = new ArrayList<>();

    private boolean isTaken(UnixDomainSocketAddress exporter) throws IOException {
        SocketChannel client = SocketChannel.open(StandardProtocolFamily.UNIX);
        waiting.add(client);
        client.configureBlocking(false);
        try {
            return client.connect(exporter);
        } catch (SocketException full) { // EAGAIN
            return false;
        }
    }

    /** The kernel lets a connect wait for room in the backlog, without a limit. */
    @Test
    @Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
    void anExporterThatAcceptsNobodyIsNotWaitedForWithoutALimit() throws IOException {
        Path socket = folder.resolve("export");
        UnixDomainSocketAddress address = UnixDomainSocketAddress.of(socket);
        try (ServerSocketChannel exporter = ServerSocketChannel.open(StandardProtocolFamily.UNIX)) {
            exporter.bind(address, 1);
            while (isTaken(address)) {
                // until its backlog is full
            }
            assertThatIOException()
                    .isThrownBy(() -> IpcImport.connect(socket, Duration.ofMillis(50)))
                    .withMessage("it has accepted no connection within PT0.05S");
            exporter.accept().close();
            try (SocketChannel now = IpcImport.connect(socket, Duration.ofSeconds(30))) {
                assertThat(now.isConnected()).isTrue();
            }
        } finally {
            for (SocketChannel client : waiting) {
                client.close();
            }
        }
    }
}
