// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.stream;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.Chunk;
import io.penstock.ClosedException;
import io.penstock.HostLease;
import io.penstock.StorageFile;
import io.penstock.WritePlan;
import io.penstock.engine.FakeFence;
import io.penstock.engine.FakePort;
import io.penstock.engine.queue.OpenTransfer;
import java.lang.ref.WeakReference;
import java.nio.file.AccessDeniedException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.Function;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.reactivestreams.Publisher;
import org.reactivestreams.Subscriber;
import org.reactivestreams.Subscription;
import reactor.core.publisher.BaseSubscriber;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Operators;
import reactor.core.publisher.Sinks;
import reactor.test.subscriber.TestSubscriber;

class MonoWriteTest {

    private final FakePort port = new FakePort(0);
    private final WritePlan plan =
            WritePlan.to(Path.of("frames.raw")).chunkBytes(100).depth(3);
    private long liveBefore;

    @BeforeEach
    void count() {
        liveBefore = Leases.live();
    }

    @AfterEach
    void nothingIsLeftBehind() {
        assertThat(Leases.live()).as("live leases").isEqualTo(liveBefore);
        assertThat(port.live()).as("buffers not closed").isZero();
        assertThat(port.manual.workers).as("workers not given back").isZero();
    }

    private TestSubscriber<Long> write(WritePlan plan, Function<? super Chunk, ? extends Publisher<Long>> fill) {
        TestSubscriber<Long> subscriber = TestSubscriber.create();
        new MonoWrite(port, plan, fill).subscribe(subscriber);
        return subscriber;
    }

    private static long fill(Chunk chunk, long count) {
        for (long i = 0; i < count; i++) {
            chunk.view().put(i, (byte) (chunk.fileOffset() + i));
        }
        return count;
    }

    @Test
    void chunksAreWrittenOneAfterTheOther() {
        long[] counts = {100, 40, 1, 100, 0};
        List<Long> offsets = new ArrayList<>();
        TestSubscriber<Long> subscriber = write(plan, chunk -> {
            offsets.add(chunk.fileOffset());
            return Mono.just(fill(chunk, counts[(int) chunk.index()]));
        });
        port.runAll();
        assertThat(offsets).containsExactly(0L, 100L, 140L, 141L, 241L);
        assertThat(subscriber.getReceivedOnNext()).containsExactly(241L);
        assertThat(subscriber.isTerminatedComplete()).isTrue();
        assertThat(port.file.size).isEqualTo(241);
        for (int i = 0; i < 241; i++) {
            assertThat(port.file.bytes[i]).isEqualTo((byte) i);
        }
        assertThat(port.file.closes).isEqualTo(1);
        assertThat(port.file.syncs).isZero();
        assertThat(port.buffers).hasSizeLessThanOrEqualTo(3);
    }

    @Test
    void anEmptyPublisherEndsTheWritePlan() {
        TestSubscriber<Long> subscriber = write(plan, chunk -> Mono.empty());
        port.runAll();
        assertThat(subscriber.getReceivedOnNext()).containsExactly(0L);
        assertThat(port.opens).isZero();
    }

    @Test
    void chunksAreFilledWhileOthersAreWrittenUpToTheDepth() {
        TestSubscriber<Long> subscriber = write(plan, chunk -> Mono.just(chunk.index() < 6 ? fill(chunk, 100) : 0L));
        port.manual.run();
        assertThat(port.open).as("being written").hasSize(3);
        port.end(1);
        port.manual.run();
        assertThat(port.open).hasSize(3);
        port.runAll();
        assertThat(subscriber.getReceivedOnNext()).containsExactly(600L);
    }

    @Test
    void aRegionIsFilledAndNoMore() {
        List<Long> lengths = new ArrayList<>();
        TestSubscriber<Long> subscriber =
                write(WritePlan.to(port.file.region(50, 250)).chunkBytes(100), chunk -> {
                    lengths.add(chunk.length());
                    return Mono.just(fill(chunk, chunk.length()));
                });
        port.runAll();
        assertThat(lengths).containsExactly(100L, 100L, 50L);
        assertThat(subscriber.getReceivedOnNext()).containsExactly(250L);
        assertThat(port.file.size).isEqualTo(300);
        assertThat(port.file.closes).as("it is the caller's").isZero();
    }

    @Test
    void syncComesAfterTheLastWriteAndBeforeTheResult() {
        Sinks.Empty<Void> synced = Sinks.empty();
        port.file.sync = synced.asMono();
        TestSubscriber<Long> subscriber =
                write(plan.sync(), chunk -> Mono.just(chunk.index() < 2 ? fill(chunk, 100) : 0L));
        port.manual.run();
        assertThat(port.file.syncs).isZero();
        port.runAll();
        assertThat(port.file.syncs).isEqualTo(1);
        assertThat(subscriber.isTerminated()).isFalse();
        assertThat(port.file.closed).isFalse();
        synced.tryEmitEmpty().orThrow();
        port.runAll();
        assertThat(subscriber.getReceivedOnNext()).containsExactly(200L);
        assertThat(port.file.closed).isTrue();
    }

    @Test
    void aSyncThatFailsIsTheResult() {
        IllegalStateException failure = new IllegalStateException("EIO");
        port.file.sync = Mono.error(failure);
        TestSubscriber<Long> subscriber = write(plan.sync(), chunk -> Mono.just(0L));
        port.runAll();
        assertThat(subscriber.expectTerminalError()).isSameAs(failure);
        assertThat(port.file.syncs).isEqualTo(1);
    }

    @ParameterizedTest
    @ValueSource(longs = {101, -1, Long.MAX_VALUE})
    void aNumberThatExceedsTheChunkIsAnError(long number) {
        TestSubscriber<Long> subscriber =
                write(plan, chunk -> Mono.just(chunk.index() == 0 ? fill(chunk, 100) : number));
        port.manual.run();
        assertThat(subscriber.isTerminated())
                .as("the first chunk is being written")
                .isFalse();
        port.runAll();
        assertThat(subscriber.expectTerminalError()).isInstanceOf(IndexOutOfBoundsException.class);
        assertThat(port.file.size).as("what was written before stays").isEqualTo(100);
        assertThat(port.file.closed).isTrue();
    }

    @Test
    void twoNumbersAreAnError() {
        TestSubscriber<Long> subscriber = write(plan, chunk -> Flux.just(1L, 2L));
        port.runAll();
        assertThat(subscriber.expectTerminalError()).isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void anErrorOfTheFunctionComesAfterTheWritesBeforeIt() {
        IllegalStateException failure = new IllegalStateException("render");
        TestSubscriber<Long> subscriber = write(plan, chunk -> {
            if (chunk.index() == 2) {
                throw failure;
            }
            return Mono.just(fill(chunk, 100));
        });
        port.manual.run();
        assertThat(subscriber.isTerminated()).isFalse();
        port.runAll();
        assertThat(subscriber.expectTerminalError()).isSameAs(failure);
        assertThat(port.file.size).isEqualTo(200);
    }

    @Test
    void aWriteThatFailsEndsTheFillingAndLetsTheOthersEnd() {
        TestSubscriber<Long> subscriber = write(plan, chunk -> Mono.just(fill(chunk, 100)));
        port.manual.run();
        IllegalStateException first = new IllegalStateException("ENOSPC");
        IllegalStateException second = new IllegalStateException("ENOSPC again");
        port.fail(1, first);
        port.manual.run();
        assertThat(port.open).hasSize(2);
        port.fail(1, second);
        port.runAll();
        assertThat(subscriber.expectTerminalError()).isSameAs(first).hasSuppressedException(second);
    }

    @Test
    void aFileThatCannotBeOpenedIsAnError() {
        port.opened = Mono.error(new AccessDeniedException("frames.raw"));
        TestSubscriber<Long> subscriber = write(plan, chunk -> Mono.just(1L));
        port.runAll();
        assertThat(subscriber.expectTerminalError()).isInstanceOf(AccessDeniedException.class);
    }

    @Test
    void aChunkIsWrittenWhenItsFencesAreSignalled() {
        FakeFence fence = new FakeFence();
        List<Chunk> chunks = new ArrayList<>();
        TestSubscriber<Long> subscriber = write(plan, chunk -> {
            chunks.add(chunk);
            return chunk.index() == 0
                    ? chunk.releaseAfter(fence).thenReturn(100L)
                    : Mono.just(chunk.index() == 1 ? fill(chunk, 100) : 0L);
        });
        port.runAll();
        assertThat(port.opens).as("the second is written meanwhile").isEqualTo(1);
        assertThat(subscriber.isTerminated()).isFalse();
        fill(chunks.get(0), 100);
        fence.pass();
        assertThat(fence.closed).isTrue();
        assertThatThrownBy(chunks.get(0)::view).isInstanceOf(ClosedException.class);
        port.runAll();
        assertThat(subscriber.getReceivedOnNext()).containsExactly(200L);
        assertThat(port.file.bytes[99]).isEqualTo((byte) 99);
    }

    @Test
    void aRetainedChunkIsWrittenWhenItIsClosed() {
        List<HostLease> kept = new ArrayList<>();
        TestSubscriber<Long> subscriber = write(plan, chunk -> {
            kept.add(chunk.retain());
            return Mono.just(chunk.index() == 0 ? 10L : 0L);
        });
        port.runAll();
        assertThat(port.opens).isZero();
        kept.get(0).buffer().put(3, (byte) 77);
        kept.forEach(HostLease::close);
        port.runAll();
        assertThat(subscriber.getReceivedOnNext()).containsExactly(10L);
        assertThat(port.file.bytes[3]).isEqualTo((byte) 77);
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 2, 3, 4, 5, 6, 7})
    void aCancelAtAnyStepGivesEverythingBack(int steps) {
        Sinks.One<StorageFile> file = Sinks.one();
        port.opened = file.asMono();
        port.file.sync = Mono.never();
        List<Sinks.One<Long>> fills = new ArrayList<>();
        TestSubscriber<Long> subscriber = write(plan.sync(), chunk -> {
            fills.add(Sinks.one());
            return fills.get(fills.size() - 1).asMono();
        });
        for (int step = 0; step < steps; step++) {
            switch (step) {
                case 1 -> file.tryEmitValue(port.file).orThrow();
                case 3 -> fills.get(0).tryEmitValue(10L).orThrow();
                case 5 -> fills.get(1).tryEmitValue(0L).orThrow();
                case 6 -> port.runAll();
                default -> port.manual.run();
            }
        }
        subscriber.cancel();
        port.manual.run();
        assertThat(port.open).allMatch(OpenTransfer::isCancelled);
        port.runAll();
        assertThat(subscriber.isTerminated()).isFalse();
        assertThat(port.file.closed).isEqualTo(steps > 1);
    }

    @Test
    void theResultWaitsForDemand() {
        TestSubscriber<Long> subscriber =
                TestSubscriber.builder().initialRequest(0).build();
        new MonoWrite(port, plan, chunk -> Mono.just(0L)).subscribe(subscriber);
        port.runAll();
        assertThat(subscriber.isTerminated()).isFalse();
        subscriber.request(1);
        port.runAll();
        assertThat(subscriber.getReceivedOnNext()).containsExactly(0L);
        assertThat(subscriber.isTerminatedComplete()).isTrue();
    }

    @Test
    void theFunctionsPublisherSeesTheContext() {
        TestSubscriber<Long> subscriber =
                TestSubscriber.builder().contextPut("count", 0L).build();
        new MonoWrite(port, plan, chunk -> Mono.deferContextual(context -> Mono.just(context.<Long>get("count"))))
                .subscribe(subscriber);
        port.runAll();
        assertThat(subscriber.getReceivedOnNext()).containsExactly(0L);
    }

    @Test
    void poisonWaitsForTheWrite() {
        port.poisoning = true;
        TestSubscriber<Long> subscriber =
                write(plan.depth(1), chunk -> Mono.just(chunk.index() < 3 ? fill(chunk, 100) : 0L));
        port.runAll();
        assertThat(subscriber.getReceivedOnNext()).containsExactly(300L);
        assertThat(port.file.bytes[299]).isEqualTo((byte) 299);
        assertThat(port.buffers.get(0).bytes).containsOnly(Leases.POISON);
    }

    @Test
    void anEmptyRegionIsFullAtOnce() {
        TestSubscriber<Long> subscriber = write(WritePlan.to(port.file.region(50, 0)), chunk -> Mono.just(1L));
        port.runAll();
        assertThat(subscriber.getReceivedOnNext()).containsExactly(0L);
    }

    /** As with a stream's error. */
    @Test
    void anErrorOfTheFunctionsPublisherAfterACancelIsDropped() {
        List<Throwable> dropped = new ArrayList<>();
        TestSubscriber<Long> subscriber = TestSubscriber.builder()
                .contextPut("reactor.onErrorDropped.local", (Consumer<Throwable>) dropped::add)
                .build();
        List<Subscriber<? super Long>> fills = new ArrayList<>();
        new MonoWrite(port, plan, chunk -> fill -> {
                    fill.onSubscribe(Operators.emptySubscription());
                    fills.add(fill);
                })
                .subscribe(subscriber);
        port.runAll();
        subscriber.cancel();
        fills.get(0).onError(new IllegalStateException("late"));
        port.runAll();
        assertThat(dropped).singleElement().hasToString("java.lang.IllegalStateException: late");
        assertThat(subscriber.isTerminated()).isFalse();
    }

    /** Also where a lease that is held beyond the end leads to the subscription. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void aWriteThatIsOverDropsItsSubscriber(boolean cancelled) {
        List<HostLease> leases = new ArrayList<>();
        List<Subscription> subscriptions = new ArrayList<>();
        WeakReference<Object> subscriber = over(cancelled, leases, subscriptions);
        for (int i = 0; i < 100 && subscriber.get() != null; i++) {
            System.gc();
        }
        assertThat(subscriber.get()).isNull();
        assertThat(subscriptions).hasSize(1);
        assertThat(leases).hasSize(cancelled ? 1 : 0);
        leases.forEach(HostLease::close);
        port.runAll();
    }

    private WeakReference<Object> over(boolean cancelled, List<HostLease> leases, List<Subscription> subscriptions) {
        BaseSubscriber<Long> subscriber = new BaseSubscriber<>() {
            @Override
            protected void hookOnSubscribe(Subscription subscription) {
                subscriptions.add(subscription);
                requestUnbounded();
            }
        };
        new MonoWrite(port, plan, chunk -> {
                    if (!cancelled) {
                        return Mono.empty();
                    }
                    leases.add(chunk.retain());
                    return Mono.never();
                })
                .subscribe(subscriber);
        port.runAll();
        if (cancelled) {
            subscriber.cancel();
            port.runAll();
        }
        assertThat(subscriber.isDisposed()).isTrue();
        return new WeakReference<>(subscriber);
    }
}
