// SPDX-License-Identifier: Apache-2.0
package io.penstock.remote.ucx;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.Backend;
import io.penstock.Backends;
import io.penstock.ClosedException;
import io.penstock.Completion;
import io.penstock.DeviceBuffer;
import io.penstock.FileOption;
import io.penstock.Options;
import io.penstock.PermanentStorageException;
import io.penstock.StorageFile;
import io.penstock.Transfer;
import io.penstock.TransferPath;
import io.penstock.tck.Require;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.nio.ByteBuffer;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import reactor.core.publisher.Mono;

/** A listener and its reader in one process. */
class LoopTest {

    private static final int BYTES = 9_000_001; // three ranges, the last one odd

    private Backend backend;
    private UcxListener listener;

    @TempDir
    Path folder;

    @BeforeAll
    static void needsUcx() {
        Require.backend("ucx", UcxContext.unavailable());
    }

    @BeforeEach
    void open() throws IOException {
        backend = Backends.open("host");
        listener =
                UcxListener.open(backend, new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), Options.none());
    }

    @AfterEach
    void close() {
        listener.close();
        assertThat(backend.counters().files()).isZero();
        assertThat(backend.counters().buffers()).isZero();
        backend.close();
    }

    private static <T> T get(Mono<T> mono) {
        return mono.block(Duration.ofSeconds(30));
    }

    private static byte[] data(int bytes) {
        byte[] data = new byte[bytes];
        new Random(21).nextBytes(data);
        return data;
    }

    private byte[] read(StorageFile file, long offset, int bytes) {
        try (DeviceBuffer buffer = get(backend.allocate(bytes))) {
            Completion completion = get(backend.submit(Transfer.read(file.region(offset, bytes), buffer.all())));
            assertThat(completion.path()).isEqualTo(TransferPath.REMOTE);
            byte[] array = new byte[(int) completion.bytes()];
            buffer.hostView().orElseThrow().read(0, ByteBuffer.wrap(array));
            return array;
        }
    }

    private DeviceBuffer buffer(byte[] data) {
        DeviceBuffer buffer = get(backend.allocate(data.length));
        buffer.hostView().orElseThrow().write(0, ByteBuffer.wrap(data));
        return buffer;
    }

    /** Waits until no buffer is kept: bytes arrive at a reader before its listener learns that they have been sent. */
    private static void awaitNoBuffers(Backend of) {
        for (int i = 0; i < 2000 && of.counters().buffers() > 0; i++) {
            LockSupport.parkNanos(10_000_000);
        }
        assertThat(of.counters().buffers()).isZero();
    }

    @Test
    void aBufferIsReadByItsUri() throws IOException {
        byte[] data = data(BYTES);
        try (DeviceBuffer source = buffer(data);
                UcxExport export = listener.export(source);
                StorageFile file = get(backend.openFile(export.uri()))) {
            assertThat(file.size()).isEqualTo(BYTES);
            assertThat(read(file, 0, BYTES)).isEqualTo(data);
            assertThat(read(file, 8191, 5)).containsExactly(data[8191], data[8192], data[8193], data[8194], data[8195]);
            assertThat(read(file, BYTES - 3, 10)).hasSize(3);
        }
    }

    @Test
    void aFileIsReadByItsUri() throws IOException {
        byte[] data = data(BYTES);
        Path path = Files.write(folder.resolve("file.bin"), data);
        try (StorageFile source = get(backend.openFile(path));
                UcxExport export = listener.export(source);
                StorageFile file = get(backend.openFile(export.uri()))) {
            assertThat(read(file, 0, BYTES)).isEqualTo(data);
            assertThat(read(file, 100, 4096)).isEqualTo(Arrays.copyOfRange(data, 100, 4196));
        }
    }

    @Test
    void aFileThatIsClosedLeavesAnotherOneOfTheSameExportOpen() throws IOException {
        byte[] data = data(10_000);
        try (DeviceBuffer source = buffer(data)) {
            UcxExport export = listener.export(source);
            try (StorageFile second = get(backend.openFile(export.uri()))) {
                for (int i = 0; i < 20; i++) {
                    StorageFile first = get(backend.openFile(export.uri()));
                    first.close();
                    assertThat(read(second, 0, data.length)).isEqualTo(data);
                }
                export.close();
                assertThatThrownBy(() -> read(second, 0, 10)).isInstanceOf(PermanentStorageException.class);
            }
        }
    }

    @Test
    void aListenerThatIsClosedExportsNothingAndKeepsNothing() throws IOException {
        listener.close();
        DeviceBuffer source = buffer(data(1000));
        assertThatThrownBy(() -> listener.export(source)).isInstanceOf(ClosedException.class);
        source.close(); // which frees it, unless something keeps it: close() looks
    }

    @Test
    void anExportThatIsClosedFailsLaterReadsAndKeepsTheBufferUntilThen() throws IOException {
        DeviceBuffer source = buffer(data(BYTES));
        UcxExport export = listener.export(source);
        StorageFile file = get(backend.openFile(export.uri()));
        source.close();
        assertThat(read(file, 0, 10)).isEqualTo(data(10));
        assertThat(backend.counters().buffers()).isEqualTo(1);
        export.close();
        awaitNoBuffers(backend);
        assertThatThrownBy(() -> read(file, 0, 10))
                .isInstanceOf(PermanentStorageException.class)
                .hasMessageContaining("the export has ended");
        file.close();
        assertThatThrownBy(() -> get(backend.openFile(export.uri()))).hasRootCauseInstanceOf(NoSuchFileException.class);
    }

    @Test
    void aReaderMayDoWhatTheListenerExportsItFor() throws IOException {
        try (DeviceBuffer source = buffer(data(100));
                UcxExport read = listener.export(source);
                UcxExport write = listener.export(source, FileOption.WRITE)) {
            assertThatThrownBy(() -> get(backend.openFile(read.uri(), FileOption.WRITE)))
                    .hasRootCauseInstanceOf(AccessDeniedException.class);
            assertThatThrownBy(() -> get(backend.openFile(write.uri())))
                    .hasRootCauseInstanceOf(AccessDeniedException.class);
            try (StorageFile file = get(backend.openFile(write.uri(), FileOption.WRITE));
                    DeviceBuffer bytes = buffer(new byte[] {1, 2, 3})) {
                get(backend.submit(Transfer.write(bytes.all(), file.region(97, 3))));
                assertThat(source.hostView().orElseThrow().get(99)).isEqualTo((byte) 3);
                assertThatThrownBy(() -> get(backend.submit(Transfer.write(bytes.all(), file.region(98, 3)))))
                        .isInstanceOf(PermanentStorageException.class)
                        .hasMessageContaining("out of range");
            }
        }
    }

    @Test
    void aFileGrowsByWritesAndFailsReadsOfWhatIsGone() throws IOException {
        Path path = folder.resolve("grows");
        try (StorageFile source = get(backend.openFile(path, FileOption.READ, FileOption.WRITE, FileOption.CREATE));
                UcxExport export = listener.export(source);
                StorageFile file = get(backend.openFile(export.uri(), FileOption.READ, FileOption.WRITE));
                DeviceBuffer bytes = buffer(data(BYTES))) {
            assertThat(file.size()).isZero();
            get(backend.submit(Transfer.write(bytes.all(), file.region(0, BYTES))));
            file.sync().block(Duration.ofSeconds(30));
            assertThat(Files.readAllBytes(path)).isEqualTo(data(BYTES));
            assertThat(file.size()).isEqualTo(BYTES);
            get(source.truncate(100));
            assertThatThrownBy(() -> read(file, 0, 1000))
                    .isInstanceOf(PermanentStorageException.class)
                    .hasMessageContaining("has become shorter");
        }
    }

    @Test
    void whatIsBeyondABufferOfADeviceIsRefusedAndKeepsNothing() throws IOException {
        try (Backend device = device()) {
            try (DeviceBuffer target = get(device.allocate(10_000));
                    UcxExport export = listener.export(target, FileOption.READ, FileOption.WRITE);
                    StorageFile file = get(backend.openFile(export.uri(), FileOption.READ, FileOption.WRITE));
                    DeviceBuffer bytes = buffer(data(10_000))) {
                get(backend.submit(Transfer.write(bytes.all(), file.region(0, 10_000))));
                for (long offset : new long[] {1, 9_999, 10_000, 1L << 40, Long.MAX_VALUE - 10_000}) {
                    for (int i = 0; i < 20; i++) { // more than there are staging buffers
                        assertThatThrownBy(() ->
                                        get(backend.submit(Transfer.write(bytes.all(), file.region(offset, 10_000)))))
                                .isInstanceOf(PermanentStorageException.class)
                                .hasMessageContaining("10000 bytes at " + offset + " are out of range");
                    }
                }
                assertThat(read(file, 0, 10_000)).isEqualTo(data(10_000));
            }
            awaitNoBuffers(device);
        }
    }

    private static Backend device() {
        Require.backend(
                "opencl",
                Backends.list().stream()
                        .filter(listing -> listing.name().equals("opencl-ssg"))
                        .findFirst()
                        .orElseThrow()
                        .availability());
        return Backends.open("opencl-ssg", Options.none().with("penstock.opencl.path", "staged"));
    }

    /** UCX ends the process if the address of a worker is none. */
    @Test
    void noAddressOfOneThatHasNoTokenReachesUcx() throws IOException {
        byte[] data = data(100);
        try (DeviceBuffer source = buffer(data);
                UcxExport export = listener.export(source)) {
            for (String token : List.of("", "none", export.uri().getPath())) { // the URI's path has a slash
                try (Socket socket = new Socket(
                        listener.address().getAddress(), listener.address().getPort())) {
                    DataOutputStream out = new DataOutputStream(socket.getOutputStream());
                    out.writeLong(0x50454e53544f434bL);
                    out.writeInt(3);
                    out.writeLong(UcxContext.segmentBytes());
                    out.writeUTF(token);
                    DataInputStream in = new DataInputStream(socket.getInputStream());
                    in.skipNBytes(Long.BYTES + Integer.BYTES + Long.BYTES);
                    assertThat(in.readBoolean()).as("token %s", token).isFalse();
                    assertThat(in.read()).as("the connection has ended").isNegative();
                }
            }
            try (StorageFile file = get(backend.openFile(export.uri()))) {
                assertThat(read(file, 0, 100)).isEqualTo(data);
            }
        }
    }

    @Test
    void whatCannotBeOpenedSaysWhy() {
        URI none = URI.create("ucx://127.0.0.1:" + listener.address().getPort() + "/none");
        assertThatThrownBy(() -> get(backend.openFile(none)))
                .hasRootCauseInstanceOf(NoSuchFileException.class)
                .hasMessageContaining("no such export");
        assertThatThrownBy(() -> get(backend.openFile(URI.create("ucx://127.0.0.1/none"))))
                .hasMessageContaining("ucx://host:port/token");
    }

    @Test
    void aListenerThatCannotBeReachedIsNamed() throws IOException, InterruptedException {
        ServerSocket other = new ServerSocket(0, 0, InetAddress.getLoopbackAddress());
        String name = other.getInetAddress().getHostAddress() + ":" + other.getLocalPort();
        Mono<StorageFile> opening = backend.openFile(URI.create("ucx://" + name + "/token"));
        Thread hangsUp = new Thread(() -> {
            try {
                other.accept().close();
                other.close();
            } catch (IOException e) {
                // seen by the reader
            }
        });
        hangsUp.start();
        assertThatThrownBy(() -> get(opening)).hasMessageContaining(name);
        hangsUp.join();
        assertThatThrownBy(() -> get(opening)).hasMessageContaining(name).hasMessageContaining("refused");
    }

    /** As many threads as strangers may have, whatever the number of sockets that send nothing. */
    @Test
    void socketsThatSendNothingTakeFewThreadsAndDelayNoReader() throws IOException {
        List<Socket> idle = new ArrayList<>();
        try (DeviceBuffer source = buffer(data(10));
                UcxExport export = listener.export(source)) {
            for (int i = 0; i < 300; i++) {
                idle.add(new Socket(
                        listener.address().getAddress(), listener.address().getPort()));
            }
            try (StorageFile file = get(backend.openFile(export.uri()))) { // accepted behind them all
                assertThat(read(file, 0, 10)).isEqualTo(data(10));
            }
            for (int i = 0; i < 2000 && watching() > 70; i++) { // closed ones end in a moment
                LockSupport.parkNanos(10_000_000);
            }
            assertThat(watching()).isBetween(60L, 70L);
        } finally {
            for (Socket socket : idle) {
                socket.close();
            }
        }
    }

    private static long watching() {
        return Thread.getAllStackTraces().keySet().stream()
                .filter(thread -> thread.getName().startsWith("penstock-ucx-watch-"))
                .count();
    }
}
