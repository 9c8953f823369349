// SPDX-License-Identifier: Apache-2.0
package io.penstock.remote.ucx;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.Backend;
import io.penstock.Backends;
import io.penstock.DeviceBuffer;
import io.penstock.FileOption;
import io.penstock.HostView;
import io.penstock.Options;
import io.penstock.PermanentStorageException;
import io.penstock.StorageFile;
import io.penstock.Transfer;
import io.penstock.TransientStorageException;
import io.penstock.tck.Require;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BooleanSupplier;
import java.util.zip.CRC32;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** Two processes: what is transferred, and what happens when one of them dies, stops or is not reached any more. */
@Tag("slow")
class PeersTest {

    private static final String TCP = "tcp";
    private static final String SHARED_MEMORY = "posix,sysv";
    private static final int BYTES = 9_000_001;

    private Backend backend;

    @TempDir
    Path folder;

    @BeforeAll
    static void needsUcx() {
        Require.backend("ucx", UcxContext.unavailable());
    }

    @BeforeEach
    void open() {
        backend = Backends.open("host", Options.none().with("penstock.remote.timeout", "5s"));
    }

    @AfterEach
    void close() {
        await(
                "nothing is open",
                () -> backend.counters().files() == 0
                        && backend.counters().buffers() == 0
                        && backend.counters().inFlight() == 0);
        backend.close();
    }

    private static <T> T get(Mono<T> mono) {
        return mono.block(Duration.ofSeconds(30));
    }

    private static void await(String what, BooleanSupplier condition) {
        long until = System.nanoTime() + TimeUnit.SECONDS.toNanos(20);
        while (!condition.getAsBoolean()) {
            assertThat(System.nanoTime()).as(what).isLessThan(until);
            pause();
        }
    }

    private static void pause() {
        try {
            Thread.sleep(10);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {TCP, SHARED_MEMORY})
    void randomReadsAndWritesMoveTheBytesThatTheyName(String transports) throws IOException {
        long seed = System.nanoTime();
        try (Child child = Child.exporter(transports, BYTES, folder)) {
            CRC32 crc = new CRC32();
            crc.update(transferAtRandom(child.memory(), seed));
            assertThat(child.ask("check")).as("CRC-32 in the exporter").startsWith(crc.getValue() + " ");
            transferAtRandom(child.file(), seed + 1);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {TCP + ",cuda_copy", SHARED_MEMORY + ",cuda_copy"})
    void memoryOfAGpuIsReadAndWrittenByUcxItself(String transports) throws IOException {
        Backends.list().stream()
                .filter(listing -> listing.name().equals("cufile"))
                .forEach(listing -> Require.backend("gpu", listing.availability()));
        boolean none = DeviceAccess.of(UcxContext.get()) == DeviceAccess.NONE;
        Require.backend("ucx-cuda", none ? "UCX was built without CUDA" : null);
        try (Child child = Child.exporterOf("cufile", transports, BYTES, folder)) {
            CRC32 crc = new CRC32();
            crc.update(transferAtRandom(child.memory(), System.nanoTime()));
            assertThat(child.ask("check"))
                    .as("CRC-32 in the exporter")
                    .startsWith(crc.getValue() + " ")
                    .doesNotContain("staged");
        }
    }

    /** Writes at random, and reads all now and then; returns what must be there. */
    private byte[] transferAtRandom(URI uri, long seed) {
        Random random = new Random(seed);
        byte[] expected = new byte[BYTES];
        byte[] read = new byte[BYTES];
        try (StorageFile file = get(backend.openFile(uri, FileOption.READ, FileOption.WRITE));
                DeviceBuffer buffer = get(backend.allocate(BYTES))) {
            HostView view = buffer.hostView().orElseThrow();
            for (int round = 0; round < 12; round++) {
                int most = round % 3 == 0 ? 100 : round % 3 == 1 ? 20_000 : BYTES;
                byte[] chunk = new byte[1 + random.nextInt(most)];
                int at = random.nextInt(BYTES - chunk.length + 1);
                random.nextBytes(chunk);
                System.arraycopy(chunk, 0, expected, at, chunk.length);
                view.write(0, ByteBuffer.wrap(chunk));
                get(backend.submit(Transfer.write(buffer.region(0, chunk.length), file.region(at, chunk.length))));
                if (round % 4 == 3) {
                    get(backend.submit(Transfer.read(file.all(), buffer.all())));
                    view.read(0, ByteBuffer.wrap(read));
                    assertThat(Arrays.mismatch(read, expected))
                            .as("seed %d", seed)
                            .isEqualTo(-1);
                }
            }
            file.sync().block(Duration.ofSeconds(30));
        }
        return expected;
    }

    /** Transfers until that fails, while {@code meanwhile} runs once some have been made; returns the failure. */
    private Throwable failure(StorageFile file, boolean writes, Action meanwhile) throws Exception {
        AtomicReference<@Nullable Throwable> failed = new AtomicReference<>();
        CountDownLatch some = new CountDownLatch(3);
        CountDownLatch ended = new CountDownLatch(1);
        try (DeviceBuffer buffer = get(backend.allocate(BYTES))) {
            buffer.hostView().orElseThrow().write(0, ByteBuffer.allocate(BYTES));
            Transfer transfer =
                    writes ? Transfer.write(buffer.all(), file.all()) : Transfer.read(file.all(), buffer.all());
            Flux.range(0, Integer.MAX_VALUE)
                    .concatMap(i -> backend.submit(transfer))
                    .subscribe(completion -> some.countDown(), e -> {
                        failed.set(e);
                        ended.countDown();
                    });
            assertThat(some.await(20, TimeUnit.SECONDS)).isTrue();
            meanwhile.run();
            assertThat(ended.await(20, TimeUnit.SECONDS)).isTrue();
        }
        return failed.get();
    }

    private interface Action {
        void run() throws Exception;
    }

    @ParameterizedTest
    @ValueSource(strings = {TCP, SHARED_MEMORY})
    void theDeathOfAnExporterFailsTransfersAtOnce(String transports) throws Exception {
        for (boolean writes : new boolean[] {false, true}) {
            try (Child child = Child.exporter(transports, BYTES, folder);
                    StorageFile file = get(backend.openFile(child.memory(), FileOption.READ, FileOption.WRITE))) {
                long[] killed = new long[1];
                Throwable failure = failure(file, writes, () -> {
                    child.signal("KILL");
                    killed[0] = System.nanoTime();
                });
                assertThat(Duration.ofNanos(System.nanoTime() - killed[0])).isLessThan(Duration.ofSeconds(3));
                assertThat(failure)
                        .isInstanceOf(PermanentStorageException.class)
                        .hasMessageContaining("the connection to 127.0.0.1:")
                        .hasMessageContaining("has ended");
                try (DeviceBuffer buffer = get(backend.allocate(10))) {
                    assertThatThrownBy(() -> get(backend.submit(Transfer.read(file.region(0, 10), buffer.all()))))
                            .isInstanceOf(PermanentStorageException.class);
                }
            }
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {TCP, SHARED_MEMORY})
    void aDeadlineEndsTransfersOfAnExporterThatStops(String transports) throws Exception {
        for (boolean writes : new boolean[] {false, true}) {
            try (Child child = Child.exporter(transports, BYTES, folder);
                    StorageFile file = get(backend.openFile(child.memory(), FileOption.READ, FileOption.WRITE));
                    DeviceBuffer buffer = get(backend.allocate(BYTES))) {
                buffer.hostView().orElseThrow().write(0, ByteBuffer.allocate(BYTES));
                Transfer transfer =
                        writes ? Transfer.write(buffer.all(), file.all()) : Transfer.read(file.all(), buffer.all());
                get(backend.submit(transfer));
                child.signal("STOP");
                long start = System.nanoTime();
                assertThatThrownBy(() -> get(backend.submit(transfer.deadline(Duration.ofMillis(200)))))
                        .isInstanceOf(PermanentStorageException.class)
                        .hasMessageContaining("exceeded its deadline");
                assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(Duration.ofSeconds(4));
                child.signal("CONT");
                assertThat(child.ask("check"))
                        .as("CRC-32 and pins of the exporter")
                        .contains(" ");
            }
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {TCP, SHARED_MEMORY})
    void anExporterOutlivesReadersThatAreKilled(String transports) throws Exception {
        DeviceBuffer source = get(backend.allocate(BYTES));
        try (UcxListener listener =
                UcxListener.open(backend, new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), Options.none())) {
            UcxExport export = listener.export(source, FileOption.READ, FileOption.WRITE);
            for (String what : new String[] {"read", "write"}) {
                try (Child child = new Child(
                        List.of(),
                        Map.of("UCX_TLS", transports),
                        what,
                        export.uri().toString())) {
                    assertThat(child.line()).isEqualTo("open");
                    assertThat(child.line()).isEqualTo("transferring");
                    child.signal("KILL");
                    assertThat(child.end()).isEqualTo(128 + 9);
                }
            }
            source.close();
            try (StorageFile file = get(backend.openFile(export.uri()));
                    DeviceBuffer buffer = get(backend.allocate(BYTES))) {
                assertThat(get(backend.submit(Transfer.read(file.all(), buffer.all())))
                                .bytes())
                        .isEqualTo(BYTES);
                assertThat(backend.counters().buffers()).isEqualTo(2);
                export.close();
                await(
                        "the buffer is kept by readers that are dead",
                        () -> backend.counters().buffers() == 1);
            }
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {TCP, SHARED_MEMORY})
    void aReaderThatStopsKeepsABufferForTheTimeoutOnly(String transports) throws Exception {
        DeviceBuffer source = get(backend.allocate(BYTES));
        try (UcxListener listener = UcxListener.open(
                backend,
                new InetSocketAddress(InetAddress.getLoopbackAddress(), 0),
                Options.none().with("penstock.remote.timeout", "1s"))) {
            UcxExport export = listener.export(source);
            try (Child child = new Child(
                    List.of(),
                    Map.of("UCX_TLS", transports),
                    "read",
                    export.uri().toString())) {
                source.close();
                assertThat(child.line()).isEqualTo("open");
                assertThat(child.line()).isEqualTo("transferring");
                child.signal("STOP");
                export.close();
                await("the buffer is freed", () -> backend.counters().buffers() == 0);
                child.signal("CONT");
                assertThat(child.line()).startsWith("PermanentStorageException: ");
            }
        }
    }

    @Test
    void aPartitionEndsTransfersAfterTheTimeout() throws Exception {
        Require.backend("netns", Partition.unavailable());
        try (Partition partition = new Partition();
                Child exporter = Child.exporter(partition.launcher(), partition.address(), TCP, BYTES, folder);
                Child reader = new Child(
                        List.of(),
                        Map.of("UCX_NET_DEVICES", partition.device(), "PENSTOCK_REMOTE_TIMEOUT", "1500ms"),
                        "read",
                        exporter.memory().toString())) {
            assertThat(reader.line()).isEqualTo("open");
            assertThat(reader.line()).isEqualTo("transferring");
            partition.begin();
            long start = System.nanoTime();
            assertThat(reader.line()).startsWith("PermanentStorageException: ").contains("it was silent for 1");
            assertThat(Duration.ofNanos(System.nanoTime() - start))
                    .isBetween(Duration.ofSeconds(1), Duration.ofSeconds(6));
        }
    }

    @Test
    void anExportThatEndsFailsTransfersOfItsReaders() throws Exception {
        try (Child child = Child.exporter(TCP, BYTES, folder);
                StorageFile file = get(backend.openFile(child.memory()))) {
            Throwable failure = failure(file, false, () -> child.ask("revoke"));
            assertThat(failure)
                    .isInstanceOf(PermanentStorageException.class)
                    .hasMessageContaining("the export has ended");
        }
    }

    /** UCX ends the process that is sent more than it has room for, since it compares nothing. */
    @Test
    void peersWhoseSegmentsDifferAreNotConnected() throws Exception {
        Map<String, String> environment = Map.of("UCX_TLS", TCP, "UCX_TCP_RX_SEG_SIZE", "16k");
        try (Child child = Child.exporter(environment, BYTES, folder)) {
            assertThatThrownBy(() -> {
                        try (StorageFile file = get(backend.openFile(child.memory(), FileOption.WRITE));
                                DeviceBuffer buffer = get(backend.allocate(BYTES))) {
                            backend.submit(Transfer.write(buffer.all(), file.all()))
                                    .block(Duration.ofSeconds(30));
                        }
                    })
                    .hasMessageContaining("UCX_TCP_RX_SEG_SIZE must be the same at both ends")
                    .hasMessageContaining("16384 at the other");
            assertThat(child.ask("check")).as("CRC-32 and pins of the exporter").contains(" ");
        }
    }

    /** If the segments of the reader were UCX's own, UCX would end it. */
    @Test
    void segmentsHaveTheSizeThatPeersCompare() throws Exception {
        Map<String, String> environment = Map.of("UCX_TLS", TCP, "UCX_TCP_RX_SEG_SIZE", "512k");
        try (Child exporter = Child.exporter(environment, BYTES, folder);
                Child reader = new Child(
                        List.of(),
                        Map.of("UCX_TLS", TCP),
                        "read",
                        exporter.memory().toString())) {
            assertThat(reader.line()).isEqualTo("open");
            assertThat(reader.line()).isEqualTo("transferring");
        }
    }

    @Test
    void aProcessWithoutDescriptorsIsToldOfTheirLimit() throws Exception {
        try (Child exporter = Child.exporter(TCP, BYTES, folder);
                Child reader = new Child(
                        List.of("sh", "-c", "ulimit -n 256; exec \"$@\"", "sh"),
                        Map.of("UCX_TLS", TCP),
                        "few",
                        exporter.memory().toString())) {
            assertThat(reader.line()).isEqualTo("full");
            int refused = 0;
            for (String refusal = reader.line(); !refusal.isEmpty(); refusal = reader.line()) {
                assertThat(refusal)
                        .as("with %s descriptors left", refused)
                        .startsWith(TransientStorageException.class.getName())
                        .contains("ulimit -n");
                refused++;
            }
            assertThat(refused).isPositive();
            assertThat(reader.line()).isEqualTo("open");
        }
    }

    @Test
    void theJvmFindsNullAccessesWhileUcxTransfers() throws Exception {
        try (Child child = Child.exporter(SHARED_MEMORY, BYTES, folder);
                StorageFile file = get(backend.openFile(child.memory()))) {
            int[] found = new int[1];
            failure(file, false, () -> {
                for (int i = 0; i < 200_000; i++) {
                    found[0] += lengthOf(i % 100 == 0 ? null : "text") < 0 ? 1 : 0;
                }
                child.signal("KILL");
            });
            assertThat(found[0]).isEqualTo(2000);
        }
    }

    /** Compiled without a check for null: the access itself faults, and the JVM's handler makes it an exception. */
    private static int lengthOf(@Nullable String text) {
        try {
            return text.length();
        } catch (NullPointerException e) {
            return -1;
        }
    }
}
