// SPDX-License-Identifier: Apache-2.0
package io.penstock.remote.http.client;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.Backend;
import io.penstock.Backends;
import io.penstock.CommonOptions;
import io.penstock.DeviceBuffer;
import io.penstock.Options;
import io.penstock.PermanentStorageException;
import io.penstock.StorageFile;
import io.penstock.Transfer;
import io.penstock.TransientStorageException;
import io.penstock.tck.Content;
import io.penstock.tck.Pattern;
import io.penstock.tck.Witness;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Locale;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import reactor.core.publisher.Mono;

/** The cells of the matrix of faults (docs/testing.md) that a server on another host has. */
class RemoteFaultsTest extends ServedFile {

    private static final Path DATA =
            Path.of(System.getProperty("basedir", "")).resolve("../../backend-host/src/test/resources/faults.txt");
    private static final int BYTES = 1 << 20;
    private static final Pattern CONTENT = new Pattern(5);
    private static final Options TWO_ATTEMPTS = Options.none().with(CommonOptions.REMOTE_ATTEMPTS, 2);

    private final CountDownLatch asked = new CountDownLatch(1);
    private final CountDownLatch gate = new CountDownLatch(1);

    record Cell(String operation, String fault, String right) {

        boolean isHeld() {
            return fault.equals("slow") || fault.equals("hung");
        }
    }

    RemoteFaultsTest() {
        super(content());
    }

    private static byte[] content() {
        ByteBuffer bytes = ByteBuffer.allocate(BYTES);
        CONTENT.fill(bytes, 0);
        return bytes.array();
    }

    static Stream<Cell> cells() throws IOException {
        return Files.readAllLines(DATA).stream()
                .filter(line -> line.startsWith("http "))
                .map(line -> line.split("\\s+", 5))
                .flatMap(row -> Stream.of(row[1].split(","))
                        .flatMap(operation ->
                                Stream.of(row[2].split(",")).map(fault -> new Cell(operation, fault, row[4]))));
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("cells")
    void aFaultEndsAsItsRowSaysAndHoldsUpNoOther(Cell cell) throws Exception {
        boolean opens = cell.operation.equals("open");
        try (Backend patient = Backends.open("host", TWO_ATTEMPTS);
                DeviceBuffer buffer = get(patient.allocate(BYTES))) {
            StorageFile file = opens ? null : get(patient.openFile(server.uri()));
            server.answer = (request, to) -> answer(cell, request, to);
            Witness<Long> witness = Witness.of(operation(cell, patient, file, buffer));
            if (cell.isHeld()) {
                assertThat(asked.await(20, TimeUnit.SECONDS)).isTrue();
            }
            assertOthersGoOn(patient);
            if (cell.isHeld()) {
                assertThat(witness.hasEnded()).as("ended before the server has").isFalse();
                if (cell.fault.equals("hung")) {
                    witness.cancel();
                }
                gate.countDown();
            }
            if (!cell.fault.equals("hung")) {
                assertRight(cell, witness.awaitEnd(), buffer);
            }
            if (file != null) {
                file.close();
            }
        } finally {
            gate.countDown();
        }
    }

    private boolean answer(Cell cell, RangeServer.Request request, OutputStream to) throws IOException {
        switch (cell.fault) {
            case "EIO" -> to.write(RangeServer.text("500 Internal Server Error", "Content-Length: 0"));
            case "removed" -> to.write(RangeServer.text("404 Not Found", "Content-Length: 0"));
            case "cut" ->
                to.write(RangeServer.text(
                        "206 Partial Content",
                        "ETag: " + server.etag,
                        "Content-Length: 1",
                        "Content-Range: bytes " + request.from() + "-" + request.from() + "/" + BYTES / 2));
            case "replaced" -> {
                server.etag = "\"two\"";
                return false;
            }
            case "short" -> {
                if (request.number() > 3) {
                    return false;
                }
                server.cut(request, to, 100_000);
            }
            case "zero" -> server.cut(request, to, 0);
            default -> {
                asked.countDown();
                await(gate);
                return false;
            }
        }
        return true;
    }

    private static void await(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private Mono<Long> operation(Cell cell, Backend patient, @Nullable StorageFile file, DeviceBuffer buffer) {
        if (file == null) {
            return patient.openFile(server.uri()).map(opened -> {
                long size = opened.size();
                opened.close();
                return size;
            });
        }
        return switch (cell.operation) {
            case "read" ->
                patient.submit(Transfer.read(file.region(0, BYTES), buffer.all()))
                        .map(done -> done.bytes());
            case "size" -> Mono.fromCallable(file::size);
            case "close" -> Mono.fromRunnable(file::close).thenReturn((long) BYTES);
            default -> throw new IllegalArgumentException(cell.operation);
        };
    }

    private static void assertOthersGoOn(Backend patient) throws IOException {
        try (RangeServer other = new RangeServer(content());
                StorageFile file = get(patient.openFile(other.uri()));
                DeviceBuffer buffer = get(patient.allocate(1000))) {
            Transfer read = Transfer.read(file.region(0, 1000), buffer.all()).deadline(Duration.ofSeconds(20));
            assertThat(get(patient.submit(read)).bytes()).isEqualTo(1000);
        }
    }

    private void assertRight(Cell cell, Witness<Long> witness, DeviceBuffer buffer) {
        assertThat(witness.terminals()).isOne();
        if (cell.right.equals("whole")) {
            assertThat(witness.value()).isEqualTo(BYTES);
            if (cell.operation.equals("read")) {
                Content.assertHolds(Content.bytes(buffer.all()), CONTENT, 0, BYTES);
            }
            return;
        }
        String[] right = cell.right.split(" ");
        assertThat(witness.error())
                .isInstanceOf(
                        switch (right[0]) {
                            case "permanent" -> PermanentStorageException.class;
                            case "transient" -> TransientStorageException.class;
                            default -> IOException.class;
                        })
                .hasMessageContaining(server.uri().getPath());
        assertThat(String.valueOf(witness.error().getMessage()).toLowerCase(Locale.ROOT))
                .contains(right[1].replace("\"", ""));
    }
}
