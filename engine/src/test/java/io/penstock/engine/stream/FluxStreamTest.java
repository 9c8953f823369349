// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.stream;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.HostLease;
import io.penstock.Outcome;
import io.penstock.PermanentStorageException;
import io.penstock.StreamPlan;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;
import reactor.test.publisher.TestPublisher;
import reactor.test.subscriber.TestSubscriber;

class FluxStreamTest extends StreamFixture {

    @Test
    void chunksAreUsedInOrderWithTheirBytes() {
        List<String> seen = new ArrayList<>();
        TestSubscriber<Long> subscriber = stream(plan, 100, chunk -> {
            seen.add(chunk.index() + "@" + chunk.fileOffset() + "+" + chunk.length() + "=" + first(chunk));
            assertThat(chunk.region().length()).isEqualTo(chunk.length());
            return Mono.just(chunk.index());
        });
        port.manual.run();
        assertThat(port.open).as("read ahead").hasSize(3);
        port.end(2);
        port.end(1);
        port.manual.run();
        assertThat(seen).as("the first is not there yet").isEmpty();
        port.runAll();
        assertThat(subscriber.getReceivedOnNext()).containsExactly(0L, 1L, 2L, 3L, 4L, 5L, 6L, 7L, 8L, 9L);
        assertThat(seen.get(7)).isEqualTo("7@700+100=" + (700 & 0xff));
        assertThat(subscriber.isTerminatedComplete()).isTrue();
        assertThat(port.buffers).as("used again and again").hasSize(3);
        assertThat(port.file.closes).isEqualTo(1);
    }

    @Test
    void aPlanOfDirectDeliveryIsDeliveredWhereItsReadsEnd() {
        StreamPlan direct =
                StreamPlan.of(port.file.region(0, 300)).chunkBytes(100).depth(3).directDelivery();
        List<Thread> threads = new ArrayList<>();
        TestSubscriber<Long> subscriber = stream(direct, 100, chunk -> {
            threads.add(Thread.currentThread());
            return Mono.just(chunk.index());
        });
        assertThat(port.manual.workers).as("workers of a scheduler").isZero();
        port.end(0);
        assertThat(threads).containsExactly(Thread.currentThread());
        port.end(0);
        port.end(0);
        assertThat(subscriber.getReceivedOnNext()).containsExactly(0L, 1L, 2L);
        assertThat(subscriber.isTerminatedComplete()).isTrue();
    }

    @ParameterizedTest
    @CsvSource({"0,0", "1,1", "99,1", "100,1", "101,2", "1000,10", "1001,11"})
    void aFileIsCutIntoChunksAndTheLastIsShort(int size, int chunks) {
        port.file.size = size;
        TestSubscriber<Long> subscriber = stream(plan, 100, chunk -> Mono.just(chunk.length()));
        port.runAll();
        assertThat(subscriber.getReceivedOnNext()).hasSize(chunks);
        assertThat(subscriber.getReceivedOnNext().stream().mapToLong(x -> x).sum())
                .isEqualTo(size);
        assertThat(subscriber.isTerminatedComplete()).isTrue();
    }

    @ParameterizedTest
    @CsvSource({"0,0", "1,1", "99,1", "100,1", "101,2", "1000,10", "1001,11"})
    void aFileThatStatesNoLengthIsReadToItsEndOneChunkAfterTheOther(int size, int chunks) {
        port.file.size = size;
        port.file.statesNoLength = true;
        TestSubscriber<String> subscriber =
                stream(plan, 100, chunk -> Mono.just(chunk.fileOffset() + "+" + chunk.length()));
        port.runAll();
        assertThat(subscriber.getReceivedOnNext()).hasSize(chunks);
        for (int chunk = 0; chunk < chunks; chunk++) {
            assertThat(subscriber.getReceivedOnNext().get(chunk))
                    .isEqualTo(chunk * 100 + "+" + Math.min(100, size - chunk * 100));
        }
        assertThat(subscriber.isTerminatedComplete()).isTrue();
        assertThat(port.mostOpen).as("reads at a time").isEqualTo(1);
        assertThat(port.file.closes).isEqualTo(1);
    }

    @Test
    void chunksOfAFileThatStatesNoLengthMayBeRetainedUpToTheDepth() {
        port.file.statesNoLength = true;
        List<HostLease> retained = new ArrayList<>();
        TestSubscriber<Object> subscriber = stream(plan, 100, chunk -> {
            retained.add(chunk.retain());
            return Mono.empty();
        });
        port.runAll();
        assertThat(retained).hasSize(plan.depth());
        while (!retained.isEmpty()) {
            retained.remove(0).close();
            port.runAll();
        }
        assertThat(subscriber.isTerminatedComplete()).isTrue();
    }

    @Test
    void chunksOfAFileThatStatesNoLengthAreNoLargerThanFourMebibytes() {
        port.file.statesNoLength = true;
        stream(plan.chunkBytes(Long.MAX_VALUE), 100, chunk -> Mono.just(1));
        port.runAll();
        assertThat(port.buffers).singleElement().matches(buffer -> buffer.length() == 4 << 20);
    }

    @Test
    void smallFilesTakeSmallBuffers() {
        port.file.size = 40;
        stream(plan, 100, chunk -> Mono.just(1));
        port.runAll();
        assertThat(port.buffers).singleElement().matches(buffer -> buffer.length() == 40);
    }

    @Test
    void noChunkSpansTwoRegionsAndEmptyOnesAreSkipped() {
        StreamPlan regions = StreamPlan.of(
                        port.file.region(0, 150), port.file.region(500, 0), port.file.region(300, 20))
                .chunkBytes(100);
        TestSubscriber<String> subscriber =
                stream(regions, 100, chunk -> Mono.just(chunk.fileOffset() + "+" + chunk.length()));
        port.runAll();
        assertThat(subscriber.getReceivedOnNext()).containsExactly("0+100", "100+50", "300+20");
        assertThat(port.file.closes).as("it is the caller's").isZero();
    }

    @Test
    void aFileThatEndsFirstEndsItsRegionOnly() {
        StreamPlan regions = StreamPlan.of(port.file.region(850, 400), port.file.region(0, 50))
                .chunkBytes(100)
                .depth(4);
        TestSubscriber<String> subscriber =
                stream(regions, 100, chunk -> Mono.just(chunk.fileOffset() + "+" + chunk.length()));
        port.runAll();
        assertThat(subscriber.getReceivedOnNext()).containsExactly("850+100", "950+50", "0+50");
        assertThat(subscriber.isTerminatedComplete()).isTrue();
    }

    @Test
    void aFileThatGrowsAfterAShortChunkLeavesNoHole() {
        StreamPlan regions =
                StreamPlan.of(port.file.region(900, 400)).chunkBytes(200).depth(4);
        TestSubscriber<Long> subscriber = stream(regions, 100, chunk -> Mono.just(chunk.length()));
        port.manual.run();
        port.end();
        port.file.size = 2000;
        port.runAll();
        assertThat(subscriber.getReceivedOnNext()).containsExactly(100L);
        assertThat(subscriber.isTerminatedComplete()).isTrue();
    }

    @ParameterizedTest
    @CsvSource({"250,3", "300,3", "0,0"})
    void aFileThatBecomesShorterFailsItsStreamBehindTheBytesThatAreThere(int size, int chunks) {
        TestSubscriber<Long> subscriber = stream(plan, 100, chunk -> Mono.just(chunk.length()));
        port.manual.run();
        port.file.size = size;
        port.runAll();
        assertThat(subscriber.getReceivedOnNext()).hasSize(chunks);
        assertThat(subscriber.expectTerminalError())
                .isInstanceOfSatisfying(PermanentStorageException.class, failure -> {
                    assertThat(failure.outcome()).isEqualTo(Outcome.PARTIAL);
                    assertThat(failure.bytes()).isEqualTo(size);
                })
                .hasMessageStartingWith(
                        "stream of weights.bin failed: the file became shorter while it was read: it had "
                                + "1000 bytes when it was opened, and ended at " + size + "; ");
        assertThat(port.file.closes).isEqualTo(1);
    }

    @Test
    void whatIsAppendedWhileAFileIsReadIsLeftOut() {
        TestSubscriber<Long> subscriber = stream(plan, 100, chunk -> Mono.just(chunk.length()));
        port.manual.run();
        port.file.size = 2000;
        port.runAll();
        assertThat(subscriber.getReceivedOnNext()).hasSize(10).containsOnly(100L);
        assertThat(subscriber.isTerminatedComplete()).isTrue();
    }

    @Test
    void noRegionsAreAnEmptyStream() {
        TestSubscriber<Long> subscriber = stream(StreamPlan.of(List.of()), 0, chunk -> Mono.just(1L));
        port.runAll();
        assertThat(subscriber.isTerminatedComplete()).isTrue();
        assertThat(port.buffers).isEmpty();
    }

    @Test
    void oneChunkIsUsedAtATimeWhileTheNextAreRead() {
        List<Sinks.One<Long>> ends = new ArrayList<>();
        TestSubscriber<Long> subscriber = stream(plan, 100, chunk -> {
            ends.add(Sinks.one());
            return ends.get(ends.size() - 1).asMono();
        });
        port.runAll();
        assertThat(ends).hasSize(1);
        assertThat(port.opens).isEqualTo(3);
        ends.get(0).tryEmitValue(1L).orThrow();
        port.manual.run();
        assertThat(ends).hasSize(2);
        assertThat(port.opens).as("its buffer is being read into").isEqualTo(4);
        subscriber.cancel();
    }

    @Test
    void demandIsForwardedToThePublisherInUse() {
        TestPublisher<Integer> first = TestPublisher.create();
        TestSubscriber<Integer> subscriber =
                stream(plan, 3, chunk -> chunk.index() == 0 ? first.flux() : Flux.range(0, 4));
        port.runAll();
        first.assertMinRequested(3);
        first.next(10, 11);
        first.complete();
        port.runAll();
        assertThat(subscriber.getReceivedOnNext()).containsExactly(10, 11, 0);
        subscriber.request(2);
        port.runAll();
        assertThat(subscriber.getReceivedOnNext()).containsExactly(10, 11, 0, 1, 2);
        subscriber.request(2);
        port.runAll();
        assertThat(subscriber.getReceivedOnNext()).containsExactly(10, 11, 0, 1, 2, 3, 0);
        subscriber.request(Long.MAX_VALUE);
        port.runAll();
        assertThat(subscriber.getReceivedOnNext()).hasSize(2 + 9 * 4);
        assertThat(subscriber.isTerminatedComplete()).isTrue();
    }

    @Test
    void publishersThatEmitNothingNeedNoDemand() {
        TestSubscriber<Integer> subscriber = stream(plan, 0, chunk -> Mono.empty());
        port.runAll();
        assertThat(subscriber.isTerminatedComplete()).isTrue();
    }

    @Test
    void theFunctionsPublisherSeesTheContext() {
        TestSubscriber<String> subscriber =
                TestSubscriber.builder().contextPut("who", "me").build();
        new FluxStream<String>(port, plan, chunk -> Mono.deferContextual(context -> Mono.just(context.get("who"))))
                .subscribe(subscriber);
        port.runAll();
        assertThat(subscriber.getReceivedOnNext()).hasSize(10).containsOnly("me");
    }

    @Test
    void oneBufferIsEnough() {
        port.most = 1;
        TestSubscriber<Long> subscriber = stream(plan, 100, chunk -> Mono.just(chunk.index()));
        port.runAll();
        assertThat(subscriber.getReceivedOnNext()).hasSize(10);
        assertThat(subscriber.isTerminatedComplete()).isTrue();
    }

    @Test
    void retryAndRepeatStartAfresh() {
        int[] calls = {0};
        TestSubscriber<Long> subscriber = TestSubscriber.create();
        new FluxStream<Long>(port, plan, chunk -> {
                    if (calls[0]++ == 4) {
                        throw new IllegalStateException("once");
                    }
                    return Mono.just(chunk.index());
                })
                .retry(1)
                .repeat(1)
                .subscribe(subscriber);
        port.runAll();
        assertThat(subscriber.getReceivedOnNext()).hasSize(4 + 10 + 10);
        assertThat(subscriber.isTerminatedComplete()).isTrue();
        assertThat(port.file.closes).isEqualTo(3);
    }

    @Test
    void directDeliveryUsesTheCompletingThread() {
        port.direct();
        TestSubscriber<Long> subscriber = stream(plan, 100, chunk -> Mono.just(chunk.index()));
        port.endAll();
        assertThat(subscriber.getReceivedOnNext()).hasSize(10);
        assertThat(port.manual.scheduled).isZero();
    }

    /** The caller of close may hold a queue of Netty half-changed; a subscriber called from there would write to it. */
    @Test
    void theEndOfALeaseSignalsNothingWithinItsClose() {
        port.direct();
        List<HostLease> kept = new ArrayList<>();
        TestSubscriber<Long> subscriber = stream(plan.depth(1), 100, chunk -> {
            kept.add(chunk.retain());
            return Mono.just(chunk.index());
        });
        port.endAll();
        kept.get(0).close();
        assertThat(port.manual.scheduled).isEqualTo(1);
        port.runAll();
        port.endAll();
        assertThat(subscriber.getReceivedOnNext()).containsExactly(0L, 1L);
        subscriber.cancel();
        kept.get(1).close();
    }
}
