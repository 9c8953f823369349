// SPDX-License-Identifier: Apache-2.0
package io.penstock.netty;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.netty.buffer.ByteBuf;
import io.penstock.Backend;
import io.penstock.Backends;
import io.penstock.Chunk;
import io.penstock.ClosedException;
import io.penstock.CommonOptions;
import io.penstock.FileOption;
import io.penstock.HostLease;
import io.penstock.HostView;
import io.penstock.Options;
import io.penstock.StreamPlan;
import io.penstock.engine.stream.LiveLeases;
import java.io.IOException;
import java.lang.reflect.Proxy;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Function;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.reactivestreams.Publisher;
import org.reactivestreams.Subscription;
import reactor.core.Disposable;
import reactor.core.publisher.BaseSubscriber;
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
        LiveLeases.awaitNone();
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

    /** Netty's own would move the bytes to other memory, which the lease does not have. */
    @Test
    void theCapacityOfABufferIsFixed() {
        ByteBuf buffer = NettyBuffers.stream(backend, plan()).blockFirst();
        try {
            assertThat(buffer.capacity(CHUNK)).isSameAs(buffer);
            long address = buffer.memoryAddress();
            assertThatThrownBy(() -> buffer.capacity(CHUNK - 1))
                    .isInstanceOf(UnsupportedOperationException.class)
                    .hasMessage("capacity must be " + CHUNK + ", the memory of the lease, was " + (CHUNK - 1));
            assertThat(buffer.memoryAddress()).isEqualTo(address);
        } finally {
            buffer.release();
        }
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
        LiveLeases.awaitNone();
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
        LiveLeases.awaitNone();
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

    @Test
    void aLeaseThatCannotBeABufferIsEnded() {
        for (RuntimeException reason : List.of(
                new IllegalStateException("not addressable"), new ArithmeticException("too large for a ByteBuf"))) {
            AtomicBoolean ended = new AtomicBoolean();
            HostLease lease = new HostLease() {
                @Override
                public HostView view() {
                    throw reason;
                }

                @Override
                public void close() {
                    ended.set(true);
                }
            };
            assertThatThrownBy(() -> NettyBuffers.of(lease)).isSameAs(reason);
            assertThat(ended).as("ended after " + reason).isTrue();
        }
    }

    @Test
    void aBufferIsWrittenInPlaceOrNotAtAll() {
        ByteBuf buffer = NettyBuffers.stream(backend, plan()).blockFirst();
        assertThat(buffer.maxCapacity()).isEqualTo(CHUNK);
        assertThatExceptionOfType(IndexOutOfBoundsException.class)
                .as("into other memory, of which the lease knows nothing")
                .isThrownBy(() -> buffer.writeByte(1));
        buffer.release();
    }

    @Test
    void aSubscriberThatRequestsNothingRetainsNothing() throws Exception {
        CountDownLatch called = new CountDownLatch(1);
        BaseSubscriber<ByteBuf> idle = new BaseSubscriber<>() {
            @Override
            protected void hookOnSubscribe(Subscription subscription) {
                // requests nothing
            }
        };
        NettyBuffers.stream(watched(called), plan()).subscribe(idle);
        called.await();
        idle.cancel();
        LiveLeases.awaitNone();
    }

    /** Returns the backend; counts the calls of a stream's function, once it has returned. */
    private Backend watched(CountDownLatch called) {
        return (Backend) Proxy.newProxyInstance(
                Backend.class.getClassLoader(), new Class<?>[] {Backend.class}, (proxy, method, arguments) -> {
                    @SuppressWarnings("unchecked")
                    Function<Chunk, Publisher<HostLease>> function =
                            (Function<Chunk, Publisher<HostLease>>) arguments[1];
                    return backend.stream((StreamPlan) arguments[0], chunk -> {
                        Publisher<HostLease> result = function.apply(chunk);
                        called.countDown();
                        return result;
                    });
                });
    }
}
