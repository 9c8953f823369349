// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine;

import static io.penstock.engine.testing.BackendFixture.await;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.Backend;
import io.penstock.CommonOptions;
import io.penstock.Completion;
import io.penstock.DeviceBuffer;
import io.penstock.FileOption;
import io.penstock.Options;
import io.penstock.StorageFile;
import io.penstock.StreamPlan;
import io.penstock.Transfer;
import io.penstock.engine.spi.DeviceDriver;
import io.penstock.engine.spi.IoPath;
import io.penstock.engine.spi.Limits;
import java.lang.reflect.Proxy;
import java.nio.ByteBuffer;
import java.nio.ReadOnlyBufferException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.reactivestreams.Subscription;
import reactor.core.CoreSubscriber;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/**
 * Fences, keys, buffers and functions of an application that throw, and drivers that lack a function: nothing is lost.
 */
class ApplicationErrorsTest {

    private static final Duration LONG = Duration.ofSeconds(30);
    private static final Path PATH = Path.of("model.bin");

    private final FakeDevice device = new FakeDevice(Limits.none(1 << 20));

    private Backend open() {
        return open(List.of(device));
    }

    private Backend open(List<IoPath> paths) {
        device.files.put(PATH, device.new MemoryFile(new byte[100]));
        Options options = Options.none().with(CommonOptions.CLOSE_TIMEOUT, Duration.ofSeconds(1));
        return Engine.open("fake", device, paths, options.resolve(CommonOptions.all()));
    }

    private static DeviceBuffer buffer(Backend backend, long bytes) {
        return Objects.requireNonNull(backend.allocate(bytes).block(LONG));
    }

    private static StorageFile file(Backend backend, FileOption... options) {
        return Objects.requireNonNull(backend.openFile(PATH, options).block(LONG));
    }

    private static long moved(Mono<Completion> completion) {
        return Objects.requireNonNull(completion.block(LONG)).bytes();
    }

    @Test
    void aDownloadIntoAReadOnlyBufferLeavesNothingPinned() {
        try (Backend backend = open()) {
            DeviceBuffer buffer = buffer(backend, 100);
            assertThatThrownBy(() -> buffer.download(0, ByteBuffer.allocate(10).asReadOnlyBuffer())
                            .block(LONG))
                    .isInstanceOf(ReadOnlyBufferException.class);
            buffer.close();
            assertThat(device.freed).hasValue(device.allocated.get());
        }
    }

    @Test
    void aDownloadIntoAReadOnlyBufferThroughABounceBufferHarmsNoOtherTransfer() {
        device.opaque = true;
        try (Backend backend = open()) {
            DeviceBuffer buffer = buffer(backend, 100);
            assertThatThrownBy(() -> buffer.download(0, ByteBuffer.allocate(10).asReadOnlyBuffer())
                            .block(LONG))
                    .isInstanceOf(ReadOnlyBufferException.class);
            assertThat(buffer.upload(0, ByteBuffer.allocate(10)).block(LONG)).isEqualTo(10);
        }
    }

    @Test
    void aDeadlineWithoutEndLeavesNothingPinned() {
        Backend backend = open();
        StorageFile file = file(backend, FileOption.READ);
        DeviceBuffer buffer = buffer(backend, 100);
        Transfer read = Transfer.read(file.all(), buffer.all()).deadline(ChronoUnit.FOREVER.getDuration());
        try {
            assertThat(moved(backend.submit(read))).isEqualTo(100);
        } finally {
            assertThat(backend.counters().inFlight()).isZero();
        }
        backend.close();
    }

    private static final class BadKey {
        @Override
        public int hashCode() {
            throw new IllegalStateException("hashCode");
        }

        @Override
        public boolean equals(Object other) {
            throw new IllegalStateException("equals");
        }
    }

    @Test
    void aKeyThatThrowsFailsItsTransferAlone() {
        Backend backend = open();
        StorageFile file = file(backend, FileOption.READ);
        DeviceBuffer buffer = buffer(backend, 100);
        Transfer read = Transfer.read(file.all(), buffer.all()).ordered(new BadKey());
        assertThatThrownBy(() -> backend.submit(read).block(LONG)).isInstanceOf(IllegalStateException.class);
        assertThat(backend.counters().inFlight()).isZero();
        backend.close();
    }

    private record Key(int number, List<String> threads) {
        @Override
        public int hashCode() {
            return number;
        }

        @Override
        public boolean equals(Object other) {
            threads.add(Thread.currentThread().getName());
            return other instanceof Key that && number == that.number;
        }
    }

    @Test
    void aKeyIsNotComparedOnAnIoQueue() {
        Backend backend = open();
        StorageFile file = file(backend, FileOption.READ);
        DeviceBuffer buffer = buffer(backend, 100);
        List<String> threads = new CopyOnWriteArrayList<>();
        device.queue.hold = true;
        Transfer read = Transfer.read(file.all(), buffer.all());
        var first = backend.submit(read.ordered(new Key(1, threads))).toFuture();
        var second = backend.submit(read.ordered(new Key(1, threads))).toFuture();
        device.queue.releaseAll();
        assertThat(first).succeedsWithin(LONG);
        assertThat(second).succeedsWithin(LONG);
        backend.close();
        assertThat(threads).noneMatch(name -> name.startsWith("penstock-queue"));
    }

    @Test
    void aFenceThatThrowsIsNotWaitedForAndHarmsNoOtherTransfer() {
        List<FakeFence> broken = List.of(
                new FakeFence() {
                    @Override
                    public Mono<Void> signalled() {
                        throw new IllegalStateException("closed");
                    }
                },
                new FakeFence() {
                    @Override
                    public boolean isSignalled() {
                        throw new IllegalStateException("closed");
                    }
                });
        try (Backend backend = open()) {
            StorageFile file = file(backend, FileOption.READ);
            DeviceBuffer buffer = buffer(backend, 100);
            Transfer read = Transfer.read(file.all(), buffer.all());
            for (FakeFence fence : broken) {
                assertThat(moved(backend.submit(read.after(fence)))).isEqualTo(100);
                assertThat(moved(backend.submit(read))).isEqualTo(100);
            }
        }
    }

    @Test
    void aCancelledTransferDoesNotStayAtItsFence() {
        Backend backend = open();
        StorageFile file = file(backend, FileOption.READ);
        DeviceBuffer buffer = buffer(backend, 100);
        List<FakeFence> fences = Stream.generate(FakeFence::new).limit(10).toList();
        Transfer read = Transfer.read(file.all(), buffer.all());
        for (FakeFence fence : fences) { // one each: a subscriber of the transfer before may still be there
            var cancelled = backend.submit(read.after(fence)).subscribe();
            await(() -> fence.subscribers() == 1);
            cancelled.dispose();
        }
        assertThat(moved(backend.submit(read))).isEqualTo(100);
        backend.close();
        assertThat(fences).extracting(FakeFence::subscribers).containsOnly(0);
    }

    @Test
    void aFileOfAPathThatThrowsAnErrorIsClosed() {
        IoPath broken = (IoPath) Proxy.newProxyInstance(
                IoPath.class.getClassLoader(), new Class<?>[] {IoPath.class}, (proxy, method, args) -> {
                    if (method.getName().equals("open")) {
                        throw new UnsatisfiedLinkError("vendorOpen");
                    }
                    if (method.getName().equals("hashCode")) {
                        return 7;
                    }
                    return method.invoke(device, args);
                });
        Backend backend = open(List.of(broken, device));
        assertThatThrownBy(() -> file(backend, FileOption.READ)).isInstanceOf(UnsatisfiedLinkError.class);
        backend.close();
        assertThat(device.files.get(PATH).closed).isTrue();
    }

    @Test
    void aStreamWhoseFenceThrowsEnds() {
        Backend backend = open();
        try {
            assertThatThrownBy(() -> backend.stream(
                                    StreamPlan.of(PATH),
                                    chunk -> chunk.releaseAfter(new FakeFence() {
                                        @Override
                                        public Mono<Void> signalled() {
                                            throw new IllegalStateException("closed");
                                        }
                                    }))
                            .then()
                            .block(LONG))
                    .hasMessage("closed");
        } finally {
            backend.close();
        }
        assertThat(device.freed).hasValue(device.allocated.get());
    }

    @Test
    @SuppressWarnings("NullAway")
    void aStreamWithoutAFenceLeaksNoBuffer() {
        Backend backend = open();
        assertThatThrownBy(() -> backend.stream(StreamPlan.of(PATH), chunk -> chunk.releaseAfter(null))
                        .then()
                        .block(LONG))
                .isInstanceOf(NullPointerException.class);
        backend.close();
        assertThat(device.freed).hasValue(device.allocated.get());
    }

    @Test
    void aFenceThatFailsToCloseLeaksNoBuffer() {
        try (Backend backend = open()) {
            backend.stream(StreamPlan.of(PATH), chunk -> {
                        FakeFence fence = new FakeFence() {
                            @Override
                            public void close() {
                                throw new IllegalStateException("close");
                            }
                        };
                        return chunk.releaseAfter(fence).then(Mono.fromRunnable(fence::pass));
                    })
                    .then()
                    .block(LONG);
        }
        assertThat(device.freed).hasValue(device.allocated.get());
    }

    @Test
    void signalsOfAStreamAreSerialAlsoAfterABadRequest() throws Exception {
        Backend backend = open();
        AtomicInteger in = new AtomicInteger();
        CompletableFuture<Boolean> concurrent = new CompletableFuture<>();
        CountDownLatch ended = new CountDownLatch(1);
        backend.stream(StreamPlan.of(PATH), chunk -> Flux.just(1, 2).publishOn(Schedulers.boundedElastic()))
                .subscribe(new CoreSubscriber<Integer>() {
                    Subscription s;

                    @Override
                    public void onSubscribe(Subscription subscription) {
                        s = subscription;
                        s.request(1);
                    }

                    @Override
                    public void onNext(Integer i) {
                        in.incrementAndGet();
                        s.request(0);
                        long end = System.nanoTime() + 1_000_000_000;
                        while (ended.getCount() > 0 && System.nanoTime() < end) {
                            Thread.onSpinWait();
                        }
                        in.decrementAndGet();
                    }

                    @Override
                    public void onError(Throwable t) {
                        concurrent.complete(in.get() > 0);
                        ended.countDown();
                    }

                    @Override
                    public void onComplete() {
                        concurrent.complete(false);
                    }
                });
        assertThat(concurrent.get(30, TimeUnit.SECONDS)).isFalse();
        backend.close();
    }

    /** A driver whose fence points need a function that the library lacks. */
    @Test
    void anEnqueueForWhichANativeFunctionIsMissingFails() {
        DeviceDriver driver = (DeviceDriver) Proxy.newProxyInstance(
                IoPath.class.getClassLoader(), new Class<?>[] {DeviceDriver.class}, (proxy, method, args) -> {
                    if (method.getName().equals("fencePoint")) {
                        throw new UnsatisfiedLinkError("vendorEvent");
                    }
                    return method.invoke(device, args);
                });
        device.files.put(PATH, device.new MemoryFile(new byte[100]));
        Options options = Options.none().with(CommonOptions.CLOSE_TIMEOUT, Duration.ofSeconds(1));
        Backend backend = Engine.open("fake", driver, List.of(device), options.resolve(CommonOptions.all()));
        StorageFile file = file(backend, FileOption.READ);
        DeviceBuffer buffer = buffer(backend, 100);
        Transfer read = Transfer.read(file.all(), buffer.all());
        assertThatThrownBy(() -> backend.enqueue(read).block(LONG)).isInstanceOf(UnsatisfiedLinkError.class);
        backend.close();
    }
}
