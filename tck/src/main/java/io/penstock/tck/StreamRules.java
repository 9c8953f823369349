// SPDX-License-Identifier: Apache-2.0
package io.penstock.tck;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.Chunk;
import io.penstock.ClosedException;
import io.penstock.Completion;
import io.penstock.DeviceBuffer;
import io.penstock.FileOption;
import io.penstock.StorageFile;
import io.penstock.StreamPlan;
import io.penstock.Transfer;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;
import reactor.test.StepVerifier;

/** Streams: files through a few chunks of device memory, as fast as they are used (rules 104, 203, 302, 304). */
public interface StreamRules extends Rules {

    /** Returns whether a chunk holds the pattern's content at its offset; needs no host view. */
    static Mono<Boolean> isRight(Chunk chunk, Pattern pattern) {
        ByteBuffer bytes = ByteBuffer.allocateDirect((int) chunk.length());
        return chunk.region()
                .buffer()
                .download(chunk.region().offset(), bytes)
                .map(length -> pattern.difference(bytes, chunk.fileOffset()) == -1);
    }

    /**
     * The chunks together are the file. If this fails, check offsets, the last chunk, and reuse of a chunk before its
     * end.
     */
    @Test
    default void required_103_aStreamLeasesTheWholeFileInOrder(Bench bench) {
        Path path = bench.file("data", 1_000_003);
        StreamPlan plan = StreamPlan.of(path).chunkBytes(10_000).depth(3);
        List<Long> seen = new CopyOnWriteArrayList<>();
        Flux<Boolean> right = bench.backend().stream(plan, chunk -> {
            assertThat(chunk.index()).isEqualTo(seen.size());
            assertThat(chunk.fileOffset()).isEqualTo(chunk.index() * 10_000);
            assertThat(chunk.region().length()).isEqualTo(chunk.length());
            seen.add(chunk.length());
            return isRight(chunk, Pattern.of(path));
        });
        assertThat(Witness.<Boolean>of(right).all()).hasSize(101).containsOnly(true);
        assertThat(seen.get(100)).isEqualTo(3);
    }

    /** Every valid plan works. If this fails, check depth 1 and chunks larger than the file. */
    @Test
    default void required_304_everyDepthAndChunkSizeStreamsTheFile(Bench bench) {
        Path path = bench.file("data", 100_000);
        for (int depth : new int[] {1, 2, 7, 64}) {
            for (long chunkBytes : new long[] {999, 4096, 100_000, 1 << 20}) {
                StreamPlan plan = StreamPlan.of(path).chunkBytes(chunkBytes).depth(depth);
                Flux<Long> lengths = bench.backend().stream(
                        plan, chunk -> isRight(chunk, Pattern.of(path)).map(right -> right ? chunk.length() : -1));
                long sum = Witness.<Long>of(lengths).all().stream()
                        .mapToLong(l -> l)
                        .sum();
                assertThat(sum).as("depth %d, chunks of %d", depth, chunkBytes).isEqualTo(100_000);
            }
        }
    }

    /** Regions stream in their order, and none shares a chunk. If this fails, check the split at a region's end. */
    @Test
    default void required_103_regionsAreStreamedInTheirOrder(Bench bench) {
        StorageFile left = bench.open(bench.file("left", 50_000), FileOption.READ);
        StorageFile right = bench.open(bench.file("right", 50_000), FileOption.READ);
        StreamPlan plan = StreamPlan.of(
                        right.region(40_000, 9000), left.region(100, 5000), right.region(0, 0), left.region(0, 100))
                .chunkBytes(4000)
                .depth(2);
        List<Long> offsets = new CopyOnWriteArrayList<>();
        Flux<Boolean> chunks = bench.backend().stream(plan, chunk -> {
            offsets.add(chunk.fileOffset());
            return isRight(chunk, Pattern.of(chunk.index() < 3 ? right.path() : left.path()));
        });
        assertThat(Witness.<Boolean>of(chunks).all()).containsOnly(true);
        assertThat(offsets).containsExactly(40_000L, 44_000L, 48_000L, 100L, 4100L, 0L);
        assertThat(left.size()).as("the application's files stay open").isEqualTo(50_000);
    }

    /** Nothing to stream is no error. If this fails, check the end of a stream without chunks. */
    @Test
    default void required_103_anEmptyFileStreamsNothing(Bench bench) {
        AtomicInteger calls = new AtomicInteger();
        Flux<Integer> chunks = bench.backend().stream(StreamPlan.of(bench.file("empty", 0)), chunk -> {
            return Mono.just(calls.incrementAndGet());
        });
        assertThat(Witness.<Integer>of(chunks).all()).isEmpty();
        assertThat(calls).hasValue(0);
    }

    /**
     * Rule 104: values of the function's publishers are requested only on demand. If this fails, check the inner
     * request.
     */
    @Test
    default void required_104_aStreamHonoursDemandAcrossChunks(Bench bench) {
        StreamPlan plan =
                StreamPlan.of(bench.file("data", 50_000)).chunkBytes(10_000).depth(2);
        AtomicInteger calls = new AtomicInteger();
        Flux<Integer> values = bench.backend().stream(plan, chunk -> {
            calls.incrementAndGet();
            return Flux.range((int) chunk.index() * 10, 10);
        });
        Witness<Integer> witness = Witness.of(values, 0);
        bench.letOthersRun();
        assertThat(witness.values()).isEmpty();
        witness.request(13);
        witness.awaitValues(13);
        bench.letOthersRun();
        assertThat(witness.values()).hasSize(13).endsWith(12);
        assertThat(calls.get()).as("calls of the function for 13 values").isEqualTo(2);
        witness.request(Long.MAX_VALUE);
        assertThat(witness.all()).containsExactlyElementsOf(Flux.range(0, 50).toIterable());
    }

    /** One chunk at a time, however slow. If this fails, check when the next call is made. */
    @Test
    default void required_104_aSlowFunctionIsCalledForOneChunkAtATime(Bench bench) {
        Path path = bench.file("data", 40_000);
        StreamPlan plan = StreamPlan.of(path).chunkBytes(10_000).depth(3);
        List<Sinks.One<Boolean>> slow = new CopyOnWriteArrayList<>();
        List<Chunk> chunks = new CopyOnWriteArrayList<>();
        Sinks.Many<Integer> called = Sinks.many().unicast().onBackpressureBuffer();
        Witness<Integer> calls = Witness.of(called.asFlux());
        Witness<Boolean> witness = Witness.of(bench.backend().stream(plan, chunk -> {
            Sinks.One<Boolean> sink = Sinks.one();
            slow.add(sink);
            chunks.add(chunk);
            called.tryEmitNext(slow.size()).orThrow();
            return sink.asMono();
        }));
        for (int i = 0; i < 4; i++) {
            calls.awaitValues(1);
            bench.letOthersRun();
            assertThat(slow).as("calls while chunk %d is in use", i).hasSize(i + 1);
            // The following chunks have been read meanwhile, and not over this one.
            slow.get(i)
                    .tryEmitValue(Bench.get(isRight(chunks.get(i), Pattern.of(path))))
                    .orThrow();
        }
        assertThat(witness.all()).hasSize(4).containsOnly(true);
    }

    /** An error of the function ends the stream with it. If this fails, check which leases are still held (leaks). */
    @Test
    default void required_201_anErrorOfTheFunctionEndsTheStreamAndAllLeases(Bench bench) {
        StreamPlan plan =
                StreamPlan.of(bench.file("data", 100_000)).chunkBytes(1000).depth(4);
        for (boolean thrown : new boolean[] {true, false}) {
            AtomicInteger calls = new AtomicInteger();
            Flux<Long> stream = bench.backend().stream(plan, chunk -> {
                if (calls.incrementAndGet() < 5) {
                    return Mono.just(chunk.index());
                }
                IllegalStateException own = new IllegalStateException("the function's own");
                if (thrown) {
                    throw own;
                }
                return Mono.error(own);
            });
            Witness<Long> witness = Witness.of(stream);
            assertThat(witness.error()).hasMessageContaining("the function's own");
            assertThat(witness.values()).containsExactly(0L, 1L, 2L, 3L);
            assertThat(witness.terminals()).isOne();
        }
    }

    /** An error of opening or reading is signalled. If this fails, check what closes what was opened. */
    @Test
    default void required_401_anErrorOfOpeningOrReadingIsSignalled(Bench bench) {
        Flux<Integer> missing = bench.backend().stream(StreamPlan.of(bench.path("missing")), chunk -> Mono.just(1));
        assertThat(Witness.<Integer>of(missing).error()).isInstanceOf(NoSuchFileException.class);
        StorageFile file = bench.open(bench.file("data", 4096), FileOption.READ);
        StreamPlan closed = StreamPlan.of(file.all());
        file.close();
        assertThat(Witness.<Integer>of(bench.backend().stream(closed, chunk -> Mono.just(1)))
                        .error())
                .isInstanceOf(ClosedException.class);
    }

    /** A cancel reaches the publisher in use. If this fails, check the reads ahead at that moment (leaks). */
    @Test
    default void required_101_aCancelledStreamCancelsThePublisherInUseAndSignalsNothing(Bench bench) {
        StreamPlan plan =
                StreamPlan.of(bench.file("data", 100_000)).chunkBytes(1000).depth(4);
        AtomicInteger cancelled = new AtomicInteger();
        for (int stop : new int[] {0, 1, 50}) {
            Witness<Long> witness = Witness.of(bench.backend().stream(
                    plan,
                    chunk -> chunk.index() < stop
                            ? Mono.just(chunk.index())
                            : Mono.just(chunk.index())
                                    .concatWith(Mono.never())
                                    .doOnCancel(cancelled::incrementAndGet)));
            witness.awaitValues(stop + 1);
            witness.cancel();
            bench.letOthersRun();
            assertThat(witness.terminals()).isZero();
        }
        assertThat(cancelled).hasValue(3);
    }

    /** A cancel while only reads are in flight. If this fails, check chunks that arrive too late (leaks). */
    @Test
    default void required_201_aStreamCancelledAtAnyMomentReleasesEverything(Bench bench) {
        StreamPlan plan =
                StreamPlan.of(bench.file("data", 100_000)).chunkBytes(10_000).depth(4);
        for (int i = 0; i < 100; i++) {
            Witness<Long> witness = Witness.of(bench.backend().stream(plan, chunk -> Mono.just(chunk.index())));
            if (i % 3 == 1) {
                witness.awaitValues(1);
            }
            witness.cancel();
        }
    }

    /** A stream can be subscribed to again. If this fails, check state that belongs to the subscription. */
    @Test
    default void required_303_aRetriedStreamStartsFromTheBeginning(Bench bench) {
        Path path = bench.file("data", 20_000);
        AtomicInteger calls = new AtomicInteger();
        Flux<Boolean> stream =
                bench.backend().stream(StreamPlan.of(path).chunkBytes(4000).depth(2), chunk -> {
                    if (calls.incrementAndGet() == 3) {
                        return Mono.error(new IOException("once"));
                    }
                    return isRight(chunk, Pattern.of(path));
                });
        assertThat(Witness.<Boolean>of(stream.retry(1)).all()).hasSize(2 + 5).containsOnly(true);
    }

    /**
     * Rule 302: the function has the subscriber's context. If this fails, check the context of the inner subscriber.
     */
    @Test
    default void required_302_theFunctionRunsWithTheDownstreamContextAndNotOnAnIoQueue(Bench bench) {
        StreamPlan plan = StreamPlan.of(bench.file("data", 20_000)).chunkBytes(10_000);
        List<String> threads = new CopyOnWriteArrayList<>();
        Flux<String> names = bench.backend().<String>stream(plan, chunk -> {
                    threads.add(Thread.currentThread().getName());
                    return Mono.deferContextual(context -> Mono.just(context.<String>get("tenant")));
                })
                .contextWrite(context -> context.put("tenant", "mine"));
        StepVerifier.create(names).expectNext("mine", "mine").expectComplete().verify(Bench.patience());
        assertThat(threads).hasSize(2).noneMatch(name -> name.startsWith("penstock"));
    }

    /** Rule 304: slow streams do not starve others. If this fails, check what a stream holds while it waits. */
    @Test
    default void required_304_aBlockedStreamBlocksNoOther(Bench bench) {
        Path path = bench.file("data", 200_000);
        List<Witness<Long>> slow = new ArrayList<>();
        for (int i = 0; i < 20; i++) {
            StreamPlan plan = StreamPlan.of(path).chunkBytes(10_000).depth(8);
            slow.add(Witness.of(bench.backend().stream(plan, chunk -> Mono.<Long>never())));
        }
        for (int i = 0; i < 5; i++) {
            Flux<Boolean> quick = bench.backend().stream(
                    StreamPlan.of(path).chunkBytes(10_000).depth(8), chunk -> isRight(chunk, Pattern.of(path)));
            assertThat(Witness.<Boolean>of(quick).all()).hasSize(20).containsOnly(true);
        }
        slow.forEach(Witness::cancel);
    }

    /** A chunk is a buffer to the device. If this fails, check which backend the leased region reports. */
    @Test
    default void required_103_aChunkCanBeTheSourceOfAWrite(Bench bench) {
        Path copy = bench.path("copy");
        Path path = bench.file("data", 95_000);
        StorageFile out = bench.open(copy, FileOption.WRITE, FileOption.CREATE);
        Flux<Long> written = bench.backend().stream(
                StreamPlan.of(path).chunkBytes(10_000).depth(3),
                chunk -> bench.backend()
                        .submit(Transfer.write(chunk.region(), out.region(chunk.fileOffset(), chunk.length())))
                        .map(Completion::bytes));
        assertThat(Witness.<Long>of(written).all()).hasSize(10);
        Content.assertHolds(copy, Pattern.of(path), 0, 95_000);
        try (DeviceBuffer still = bench.poisoned(10)) {
            Content.assertPoison(still.all());
        }
    }
}
