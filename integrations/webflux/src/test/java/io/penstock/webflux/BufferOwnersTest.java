// SPDX-License-Identifier: Apache-2.0
package io.penstock.webflux;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.PooledByteBufAllocator;
import io.penstock.Backend;
import io.penstock.Backends;
import io.penstock.Chunk;
import io.penstock.StreamPlan;
import io.penstock.WritePlan;
import io.penstock.engine.stream.LiveLeases;
import java.io.IOException;
import java.lang.reflect.Proxy;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.reactivestreams.Publisher;
import org.springframework.core.io.buffer.DataBuffer;
import org.springframework.core.io.buffer.DataBufferFactory;
import org.springframework.core.io.buffer.NettyDataBuffer;
import org.springframework.core.io.buffer.NettyDataBufferFactory;
import org.springframework.core.io.buffer.PooledDataBuffer;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.test.StepVerifier;
import reactor.test.publisher.TestPublisher;
import reactor.util.context.Context;

/** Who releases a buffer, a lease or a hidden file where something comes in between. */
class BufferOwnersTest {

    @TempDir
    Path folder;

    private final NettyDataBufferFactory netty = new NettyDataBufferFactory(PooledByteBufAllocator.DEFAULT);
    private final List<NettyDataBuffer> made = new ArrayList<>();
    private final Backend host = Backends.open("host");

    @AfterEach
    void close() {
        host.close();
        LiveLeases.awaitNone();
        assertThat(made)
                .as("buffers that nobody has released")
                .noneMatch(buffer -> buffer.getNativeBuffer().refCnt() > 0);
    }

    private NettyDataBuffer buffer(int length) {
        NettyDataBuffer buffer = netty.allocateBuffer(length);
        buffer.write(new byte[length]);
        made.add(buffer);
        return buffer;
    }

    /** A device whose memory the processor cannot address. */
    private static Backend unaddressable() {
        Chunk chunk = (Chunk) Proxy.newProxyInstance(
                Chunk.class.getClassLoader(), new Class<?>[] {Chunk.class}, (proxy, method, arguments) -> {
                    if (method.getName().equals("length")) {
                        return 10L;
                    }
                    throw new IllegalStateException("not addressable");
                });
        return (Backend) Proxy.newProxyInstance(
                Backend.class.getClassLoader(), new Class<?>[] {Backend.class}, (proxy, method, arguments) -> {
                    @SuppressWarnings("unchecked")
                    Function<Chunk, Publisher<?>> use = (Function<Chunk, Publisher<?>>) arguments[1];
                    return Flux.defer(() -> use.apply(chunk));
                });
    }

    @Test
    void aCopyThatFailsIsReleased() {
        DataBufferFactory factory = (DataBufferFactory) Proxy.newProxyInstance(
                DataBufferFactory.class.getClassLoader(),
                new Class<?>[] {DataBufferFactory.class},
                (proxy, method, arguments) -> {
                    NettyDataBuffer buffer = netty.allocateBuffer((Integer) arguments[0]);
                    made.add(buffer);
                    return buffer;
                });
        StepVerifier.create(DataBuffers.stream(unaddressable(), StreamPlan.of(folder.resolve("any")), factory))
                .verifyErrorMessage("not addressable");
        assertThat(made).hasSize(1);
    }

    @Test
    void aBufferThatArrivesAfterTheCancelIsReleased() {
        ChunkFiller filler = new ChunkFiller(Flux.never(), Context.empty());
        filler.close();
        filler.onNext(buffer(100));
        assertThat(made).hasSize(1);
    }

    @Test
    void aChunkIsNotUsedAgainDuringTheCopyToItWhoseWriteIsCancelled() {
        TestPublisher<DataBuffer> body = TestPublisher.create();
        AtomicReference<Disposable> upload = new AtomicReference<>();
        AtomicLong leases = new AtomicLong(-1);
        PooledDataBuffer cancelling = Watched.like(PooledDataBuffer.class, buffer(100), (method, arguments) -> {
            if (method.equals("toByteBuffer")) {
                leases.set(LiveLeases.count());
                upload.get().dispose();
            }
        });
        upload.set(DataBuffers.write(host, WritePlan.to(folder.resolve("file")), body)
                .subscribe());
        awaitSubscriber(body);
        body.next(cancelling); // copied here, by this thread
        assertThat(leases)
                .as("the lease of the write, which the cancel ends, and the lease of the copy")
                .hasValue(2);
        host.closeLater().block(); // which waits for the file
    }

    /**
     * A TestPublisher knows its subscriber after the subscriber's first request: what it emits between them is lost.
     */
    static void awaitSubscriber(TestPublisher<?> body) {
        while (true) {
            assertThat(Thread.interrupted()).as("waited in vain").isFalse(); // by the time limit of tests
            try {
                body.assertSubscribers();
                body.assertMinRequested(1);
                return;
            } catch (AssertionError notYet) {
                Thread.onSpinWait();
            }
        }
    }

    /** On the thread that asks for the chunk to be filled, before it has returned from that. */
    @Test
    void aWriteThatIsCancelledWhileItIsGivenAChunkLeavesNoLease() throws InterruptedException {
        AtomicReference<Disposable> upload = new AtomicReference<>();
        CountDownLatch cancelled = new CountDownLatch(1);
        PooledDataBuffer cancelling = Watched.like(PooledDataBuffer.class, buffer(100), (method, arguments) -> {
            if (method.equals("toByteBuffer")) {
                while (upload.get() == null) {
                    Thread.onSpinWait();
                }
                upload.get().dispose();
                cancelled.countDown();
            }
        });
        upload.set(DataBuffers.write(host, WritePlan.to(folder.resolve("file")), Flux.just(cancelling))
                .subscribe());
        cancelled.await();
        host.closeLater().block();
        LiveLeases.awaitNone();
    }

    /** The next chunk is handed over by the thread that has filled the chunk before, with all that the source had. */
    @Test
    void theChunkBehindTheLastByteIsEmpty() throws IOException {
        Path data = Files.write(folder.resolve("data"), new byte[8]);
        ChunkFiller filler = new ChunkFiller(Flux.just(buffer(8)), Context.empty());
        List<Long> filled = new ArrayList<>();
        host.stream(StreamPlan.of(data), chunk -> {
                    filler.fill(chunk)
                            .doOnNext(filled::add)
                            .flatMap(first -> filler.fill(chunk))
                            .subscribe(filled::add);
                    return Flux.empty();
                })
                .blockLast();
        assertThat(filled).containsExactly(8L, 0L);
    }

    @Test
    void anUploadIsDurableWhenItHasItsName() {
        List<WritePlan> plans = new ArrayList<>();
        Backend watched = Watched.backend(host, (method, arguments) -> {
            if (method.equals("write")) {
                plans.add((WritePlan) arguments[0]);
            }
        });
        StepVerifier.create(new HttpFiles(watched).receive(Flux.just(buffer(10)), folder.resolve("file")))
                .expectNext(10L)
                .verifyComplete();
        assertThat(plans).singleElement().matches(WritePlan::syncs);
    }

    @Test
    void anUploadWhoseSyncFailsLeavesTheOldFile() throws IOException {
        Path target = Files.writeString(folder.resolve("file"), "old");
        Backend failing = (Backend) Proxy.newProxyInstance(
                Backend.class.getClassLoader(), new Class<?>[] {Backend.class}, (proxy, method, arguments) -> {
                    Object result = method.invoke(host, arguments);
                    return method.getName().equals("write")
                            ? ((Mono<?>) result).then(Mono.error(new IOException("EIO")))
                            : result;
                });
        StepVerifier.create(new HttpFiles(failing).receive(Flux.just(buffer(10)), target))
                .verifyErrorMessage("EIO");
        assertThat(target).hasContent("old");
        assertThat(folder.toFile().list()).containsExactly("file");
    }
}
