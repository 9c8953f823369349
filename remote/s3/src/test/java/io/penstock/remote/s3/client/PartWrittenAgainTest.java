// SPDX-License-Identifier: Apache-2.0
package io.penstock.remote.s3.client;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.Backend;
import io.penstock.Backends;
import io.penstock.Completion;
import io.penstock.DeviceBuffer;
import io.penstock.FileOption;
import io.penstock.StorageFile;
import io.penstock.Transfer;
import io.penstock.remote.s3.S3Options;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
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

/** A part that is written again while its first upload is still on its way, as by a retry. */
@Tag("once")
@ExtendWith(Certificates.class)
class PartWrittenAgainTest {

    private static final int PART = 5 << 20;
    private static final byte[] DATA = new byte[2 * PART];

    static {
        new Random(44).nextBytes(DATA);
    }

    private S3Server server;
    private Backend backend;
    private DeviceBuffer buffer;

    @BeforeEach
    void open() throws Exception {
        server = new S3Server(true);
        backend = Backends.open("host", server.options().with(S3Options.PART_BYTES, (long) PART));
        buffer = get(backend.allocate(DATA.length));
        get(buffer.upload(0, ByteBuffer.wrap(DATA)));
    }

    @AfterEach
    void close() throws Exception {
        buffer.close();
        assertThat(backend.counters().files()).isZero();
        backend.close();
        server.stop();
    }

    private static <T> T get(Mono<T> mono) {
        return mono.block(Duration.ofSeconds(30));
    }

    private StorageFile create() {
        return get(backend.openFile(S3Server.uri("object"), FileOption.WRITE, FileOption.CREATE, FileOption.TRUNCATE));
    }

    private Mono<Completion> write(StorageFile file, long offset, long bytes) {
        return backend.submit(Transfer.write(buffer.region(offset, bytes), file.region(offset, bytes)));
    }

    private List<FaultProxy.Request> parts() {
        return server.proxy.requests("PUT");
    }

    private static void await(CountDownLatch latch) {
        try {
            assertThat(latch.await(30, TimeUnit.SECONDS)).isTrue();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    /** The server would keep the part that reaches it last, and the object would have the tag that comes last. */
    @ParameterizedTest
    @ValueSource(ints = {PART, PART / 2})
    void aPartHasOneUploadAtATimeAndTheLastWriteCounts(int pieceBytes) throws Exception {
        CountDownLatch begun = new CountDownLatch(1);
        CountDownLatch released = new CountDownLatch(1);
        firstPartWaits(begun, released);
        try (StorageFile file = create()) {
            CompletableFuture<Completion> first = write(file, 0, PART).toFuture();
            await(begun);
            List<CompletableFuture<Completion>> again = new ArrayList<>();
            for (int at = 0; at < PART; at += pieceBytes) {
                again.add(backend.submit(
                                Transfer.write(buffer.region(PART + at, pieceBytes), file.region(at, pieceBytes)))
                        .toFuture());
            }
            FaultProxy.sleep(500);
            assertThat(parts()).hasSize(1);
            released.countDown();
            first.get(30, TimeUnit.SECONDS);
            for (CompletableFuture<Completion> piece : again) {
                piece.get(30, TimeUnit.SECONDS);
            }
            get(file.sync());
        } finally {
            released.countDown();
        }
        assertThat(server.get("object")).isEqualTo(Arrays.copyOfRange(DATA, PART, 2 * PART));
    }

    @Test
    void aCancelEndsAnUploadThatWaitsForAnother() throws Exception {
        CountDownLatch begun = new CountDownLatch(1);
        CountDownLatch released = new CountDownLatch(1);
        firstPartWaits(begun, released);
        try (StorageFile file = create()) {
            CompletableFuture<Completion> first = write(file, 0, PART).toFuture();
            await(begun);
            Disposable again = write(file, 0, PART).subscribe();
            while (backend.counters().inFlight() < 2) {
                FaultProxy.sleep(10);
            }
            again.dispose();
            for (int i = 0; i < 1000 && backend.counters().inFlight() > 1; i++) {
                FaultProxy.sleep(10);
            }
            assertThat(backend.counters().inFlight()).isEqualTo(1);
            released.countDown();
            first.get(30, TimeUnit.SECONDS);
            get(file.sync());
        } finally {
            released.countDown();
        }
        assertThat(server.get("object")).isEqualTo(Arrays.copyOf(DATA, PART));
    }

    private void firstPartWaits(CountDownLatch begun, CountDownLatch released) {
        server.proxy.fault = (request, to) -> {
            if (request.kind.equals("PUT") && request.number == 0) {
                begun.countDown();
                await(released);
            }
            return false;
        };
    }
}
