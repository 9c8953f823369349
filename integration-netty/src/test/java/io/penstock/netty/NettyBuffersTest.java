// SPDX-License-Identifier: Apache-2.0
package io.penstock.netty;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.netty.buffer.ByteBuf;
import io.penstock.Backend;
import io.penstock.Backends;
import io.penstock.ClosedException;
import io.penstock.CommonOptions;
import io.penstock.FileOption;
import io.penstock.HostLease;
import io.penstock.Options;
import io.penstock.StreamPlan;
import io.penstock.engine.stream.LiveLeases;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.test.StepVerifier;

class NettyBuffersTest {

    private static final int CHUNK = 4096;

    @TempDir
    Path folder;

    private Backend backend;
    private Path file;
    private byte[] bytes;

    @BeforeEach
    void open() throws IOException {
        // Released memory is overwritten, so that a buffer that has outlived its lease shows it.
        backend = Backends.open("host", Options.none().with(CommonOptions.POISON, true));
        bytes = new byte[10 * CHUNK + 123];
        new Random(7).nextBytes(bytes);
        file = Files.write(folder.resolve("file"), bytes);
    }

    @AfterEach
    void close() {
        backend.close();
        assertThat(LiveLeases.count()).as("leases that nobody has ended").isZero();
    }

    private StreamPlan plan() {
        return StreamPlan.of(file).chunkBytes(CHUNK).depth(2);
    }

    /** Returns how many chunks are leased: each to the stream's function and to a buffer. */
    private static long held() {
        return LiveLeases.count() / 2;
    }

    private static byte[] copy(ByteBuf buffer) {
        byte[] copy = new byte[buffer.readableBytes()];
        buffer.readBytes(copy);
        buffer.release();
        return copy;
    }

    @Test
    void aFileArrivesWholeAndInOrder() {
        StepVerifier.create(NettyBuffers.stream(backend, plan())
                        .map(NettyBuffersTest::copy)
                        .collectList())
                .assertNext(pieces -> {
                    assertThat(pieces).hasSize(11);
                    byte[] all = new byte[bytes.length];
                    for (int i = 0; i < 11; i++) {
                        System.arraycopy(pieces.get(i), 0, all, i * CHUNK, pieces.get(i).length);
                    }
                    assertThat(all).isEqualTo(bytes);
                })
                .verifyComplete();
    }

    @Test
    void regionsOfAnOpenFileArrive() {
        Mono<List<byte[]>> pieces = backend.withFile(
                file,
                FileOption.READ,
                open -> NettyBuffers.stream(backend, StreamPlan.of(open.region(5, 10), open.region(CHUNK - 1, 3)))
                        .map(NettyBuffersTest::copy)
                        .collectList());
        StepVerifier.create(pieces)
                .assertNext(found -> assertThat(found)
                        .containsExactly(
                                Arrays.copyOfRange(bytes, 5, 15), Arrays.copyOfRange(bytes, CHUNK - 1, CHUNK + 2)))
                .verifyComplete();
    }

    @Test
    void theNextChunkIsReadOnlyWhenABufferIsReleased() {
        List<ByteBuf> kept = new ArrayList<>();
        StepVerifier.create(NettyBuffers.stream(backend, plan()), Long.MAX_VALUE)
                .consumeNextWith(kept::add)
                .consumeNextWith(kept::add)
                .then(() -> assertThat(held()).isEqualTo(2))
                .then(() -> assertThat(kept.get(0).getByte(CHUNK - 1)).isEqualTo(bytes[CHUNK - 1]))
                .then(() -> kept.remove(0).release())
                .consumeNextWith(kept::add)
                .thenCancel()
                .verify();
        assertThat(copy(kept.get(1)))
                .as("valid after cancel")
                .isEqualTo(Arrays.copyOfRange(bytes, 2 * CHUNK, 3 * CHUNK));
        kept.get(0).release();
    }

    @Test
    void onlyTheLastReferenceEndsTheLease() {
        ByteBuf buffer = NettyBuffers.stream(backend, plan()).blockFirst();
        ByteBuf slice = buffer.retainedSlice(1, 2);
        assertThat(buffer.release()).isFalse();
        assertThat(held()).isEqualTo(1);
        assertThat(slice.getByte(0)).isEqualTo(bytes[1]);
        assertThat(slice.release()).isTrue();
        assertThat(LiveLeases.count()).isZero();
    }

    @Test
    void theBytesAreNotCopied() {
        Flux<Boolean> same = backend.stream(
                plan(),
                chunk -> Mono.fromSupplier(() -> {
                    ByteBuf buffer = NettyBuffers.of(chunk.retain());
                    buffer.setByte(0, 42);
                    boolean shared = chunk.view().get(0) == 42 && buffer.isDirect();
                    buffer.release();
                    return shared;
                }));
        StepVerifier.create(same.take(2)).expectNext(true, true).verifyComplete();
    }

    @Test
    void droppedBuffersAreReleasedByTheDiscardHook() {
        Flux<ByteBuf> none = NettyBuffers.stream(backend, plan())
                .filter(buffer -> false)
                .doOnDiscard(ByteBuf.class, ByteBuf::release);
        StepVerifier.create(none).verifyComplete();
    }

    @Test
    void aStreamCancelledAtAnyMomentLeavesNoLease() {
        for (int i = 0; i < 2_000; i++) {
            Disposable reading = NettyBuffers.stream(backend, plan()).subscribe(ByteBuf::release);
            LockSupport.parkNanos(ThreadLocalRandom.current().nextInt(100_000));
            reading.dispose();
        }
        backend.closeLater().block(); // which waits for what the cancelled streams still read
        assertThat(LiveLeases.count()).isZero();
    }

    @Test
    void errorsOfTheStreamArrive() {
        StepVerifier.create(NettyBuffers.stream(backend, StreamPlan.of(folder.resolve("absent"))))
                .verifyError(NoSuchFileException.class);
        assertThatIllegalArgumentException()
                .isThrownBy(
                        () -> NettyBuffers.stream(backend, StreamPlan.of(file).chunkBytes(1L << 31)))
                .withMessage("chunkBytes must be at most 2147483647, was 2147483648");
    }

    @Test
    void aLeaseThatHasEndedIsRefused() {
        HostLease lease = backend.stream(plan(), chunk -> Mono.fromSupplier(chunk::retain))
                .blockFirst();
        lease.close();
        assertThatExceptionOfType(ClosedException.class).isThrownBy(() -> NettyBuffers.of(lease));
    }
}
