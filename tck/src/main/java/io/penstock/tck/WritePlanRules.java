// SPDX-License-Identifier: Apache-2.0
package io.penstock.tck;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.Chunk;
import io.penstock.ClosedException;
import io.penstock.FileOption;
import io.penstock.FileRegion;
import io.penstock.PermanentStorageException;
import io.penstock.StorageFile;
import io.penstock.WritePlan;
import java.nio.ByteBuffer;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import org.junit.jupiter.api.Test;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

/**
 * Write plans: the chunks that a function fills are written to a file, one after the other (rules 104, 201, 203, 302).
 */
public interface WritePlanRules extends Rules {

    /** Fills a chunk with the content at its offset in the file, and returns its length. */
    static Mono<Long> fill(Chunk chunk, Pattern pattern, long length) {
        ByteBuffer bytes = ByteBuffer.allocateDirect((int) length);
        pattern.fill(bytes, chunk.fileOffset());
        return chunk.region().buffer().upload(chunk.region().offset(), bytes.flip());
    }

    /** Returns a function that fills chunks until the file has {@code total} bytes. */
    static Function<Chunk, Publisher<Long>> filling(Pattern pattern, long total) {
        return chunk -> {
            long length = Math.min(chunk.length(), total - chunk.fileOffset());
            return length <= 0 ? Mono.empty() : fill(chunk, pattern, length);
        };
    }

    /** Everything that was filled is written. If this fails, check offsets after a partial chunk. */
    @Test
    default void required_103_aWritePlanWritesWhatIsFilled(Bench bench) {
        Path path = bench.path("out");
        for (long total : new long[] {0, 1, 10_000, 20_000, 123_456}) {
            for (int depth : new int[] {1, 3}) {
                WritePlan plan = WritePlan.to(path).chunkBytes(10_000).depth(depth);
                Mono<Long> write = bench.backend().write(plan, filling(WriteRules.WRITTEN, total));
                assertThat(Bench.get(write)).as("bytes with depth %d", depth).isEqualTo(total);
                assertThat(path).hasSize(total);
                Content.assertHolds(path, WriteRules.WRITTEN, 0, total);
            }
        }
    }

    /** Partial chunks leave no gap. If this fails, check where the next one is written. */
    @Test
    default void required_103_partlyFilledChunksAreWrittenOneBehindTheOther(Bench bench) {
        Path path = bench.path("out");
        AtomicInteger calls = new AtomicInteger();
        Mono<Long> write = bench.backend()
                .write(WritePlan.to(path).chunkBytes(10_000).depth(3), chunk -> {
                    int call = calls.incrementAndGet();
                    assertThat(chunk.index()).isEqualTo(call - 1);
                    return call > 50 ? Mono.just(0L) : fill(chunk, WriteRules.WRITTEN, 97L * call);
                });
        long total = 97L * 50 * 51 / 2;
        assertThat(Bench.get(write)).isEqualTo(total);
        assertThat(calls).hasValue(51);
        assertThat(path).hasSize(total);
        Content.assertHolds(path, WriteRules.WRITTEN, 0, total);
    }

    /** What is appended follows what is there, also where blocks are larger. If this fails, check the first offset. */
    @Test
    default void required_103_anAppendBeginsBehindTheLastByte(Bench bench) {
        Path path = bench.file("data", 12_345);
        WritePlan plan = WritePlan.append(path).chunkBytes(10_000);
        assertThat(Bench.get(bench.backend().write(plan, filling(WriteRules.WRITTEN, 40_000))))
                .isEqualTo(40_000 - 12_345);
        assertThat(path).hasSize(40_000);
        Content.assertHolds(path, Pattern.of(path), 0, 12_345);
        Content.assertHolds(path, WriteRules.WRITTEN, 12_345, 40_000 - 12_345);
        Path missing = bench.path("missing");
        assertThat(Bench.get(bench.backend().write(WritePlan.append(missing), filling(WriteRules.WRITTEN, 5000))))
                .isEqualTo(5000);
        Content.assertHolds(missing, WriteRules.WRITTEN, 0, 5000);
    }

    /** A write stays inside its region. If this fails, check the capacity of the last chunk. */
    @Test
    default void required_206_aWritePlanIntoARegionEndsWhenItIsFull(Bench bench) {
        Path path = bench.file("data", 100_000);
        StorageFile file = bench.open(path, FileOption.READ, FileOption.WRITE);
        WritePlan plan =
                WritePlan.to(file.region(20_000, 25_000)).chunkBytes(10_000).depth(2);
        Mono<Long> write = bench.backend().write(plan, filling(WriteRules.WRITTEN, Long.MAX_VALUE));
        assertThat(Bench.get(write)).isEqualTo(25_000);
        Content.assertHolds(path, Pattern.of(path), 0, 20_000);
        Content.assertHolds(path, WriteRules.WRITTEN, 20_000, 25_000);
        Content.assertHolds(path, Pattern.of(path), 45_000, 55_000);
        assertThat(file.size()).as("the application's file stays open").isEqualTo(100_000);
    }

    /** A synced write is durable when it completes. If this fails, check that the sync follows the last write. */
    @Test
    default void required_order_aSyncedWritePlanCompletesBehindItsSync(Bench bench) {
        Path path = bench.path("out");
        WritePlan plan = WritePlan.to(path).chunkBytes(10_000).sync();
        assertThat(Bench.get(bench.backend().write(plan, filling(WriteRules.WRITTEN, 35_000))))
                .isEqualTo(35_000);
        Content.assertHolds(path, WriteRules.WRITTEN, 0, 35_000);
    }

    /**
     * Rule 402: more bytes than the capacity are a caller bug. If this fails, check the number that the function emits.
     */
    @Test
    default void required_402_aNumberThatExceedsTheChunkIsTheCallersError(Bench bench) {
        for (long number : new long[] {10_001, -1, Long.MAX_VALUE}) {
            Mono<Long> write = bench.backend()
                    .write(WritePlan.to(bench.path("out")).chunkBytes(10_000), chunk -> Mono.just(number));
            assertThat(Witness.of(write).error()).as("for %d", number).isInstanceOf(IndexOutOfBoundsException.class);
            assertThat(bench.path("out")).hasSize(0);
        }
    }

    /** An error of the function ends the write; what was written stays. If this fails, check the writes in flight. */
    @Test
    default void required_201_anErrorOfTheFunctionKeepsWhatWasWrittenBefore(Bench bench) {
        Path path = bench.path("out");
        for (boolean thrown : new boolean[] {true, false}) {
            Witness<Long> write = Witness.of(bench.backend()
                    .write(WritePlan.to(path).chunkBytes(10_000).depth(1), chunk -> {
                        if (chunk.index() < 3) {
                            return fill(chunk, WriteRules.WRITTEN, chunk.length());
                        }
                        IllegalStateException own = new IllegalStateException("the function's own");
                        if (thrown) {
                            throw own;
                        }
                        return Mono.error(own);
                    }));
            assertThat(write.error()).hasMessageContaining("the function's own");
            assertThat(write.terminals()).isOne();
            Content.assertHolds(path, WriteRules.WRITTEN, 0, 30_000);
        }
    }

    /** An error of opening or writing is signalled. If this fails, check what is filled after it. */
    @Test
    default void required_401_anErrorOfOpeningOrWritingIsSignalled(Bench bench) {
        Path nowhere = bench.path("no-such-folder").resolve("out");
        Mono<Long> missing = bench.backend().write(WritePlan.to(nowhere), filling(WriteRules.WRITTEN, 10));
        assertThat(Witness.of(missing).error()).isInstanceOf(NoSuchFileException.class);

        FileRegion refused = bench.failingWrite().fileRegion(0);
        WritePlan plan = WritePlan.to(refused.file().region(refused.offset(), 1 << 20))
                .chunkBytes(10_000)
                .depth(2);
        Witness<Long> failing = Witness.of(bench.backend().write(plan, filling(WriteRules.WRITTEN, Long.MAX_VALUE)));
        assertThat(failing.error())
                .isInstanceOf(PermanentStorageException.class)
                .hasMessageContaining("unwritable");
        assertThat(failing.terminals()).isOne();
    }

    /** One chunk is filled at a time, however slow. If this fails, check when the next call is made. */
    @Test
    default void required_104_aSlowFillIsCalledForOneChunkAtATime(Bench bench) {
        Path path = bench.path("out");
        List<Sinks.One<Long>> slow = new CopyOnWriteArrayList<>();
        Sinks.Many<Chunk> called = Sinks.many().unicast().onBackpressureBuffer();
        Witness<Chunk> calls = Witness.of(called.asFlux());
        Witness<Long> write = Witness.of(bench.backend()
                .write(WritePlan.to(path).chunkBytes(5000).depth(3), chunk -> {
                    Sinks.One<Long> sink = Sinks.one();
                    slow.add(sink);
                    called.tryEmitNext(chunk).orThrow();
                    return sink.asMono();
                }));
        for (int i = 0; i < 4; i++) {
            calls.awaitValues(1);
            bench.letOthersRun();
            assertThat(slow).hasSize(i + 1);
            Chunk chunk = calls.values().get(i);
            slow.get(i)
                    .tryEmitValue(i == 3 ? 0L : Bench.get(fill(chunk, WriteRules.WRITTEN, 5000)))
                    .orThrow();
        }
        assertThat(write.value()).isEqualTo(15_000);
        Content.assertHolds(path, WriteRules.WRITTEN, 0, 15_000);
    }

    /** Rules 101, 201: a cancel stops the filling. If this fails, check chunks that are being written (leaks). */
    @Test
    default void required_101_aCancelledWritePlanSignalsNothingAndFreesAll(Bench bench) {
        AtomicInteger cancelled = new AtomicInteger();
        for (int i = 0; i < 12; i++) {
            int stop = i;
            Sinks.Empty<Void> reached = Sinks.empty();
            WritePlan plan =
                    WritePlan.to(bench.path("out" + i)).chunkBytes(10_000).depth(3);
            Witness<Long> write = Witness.of(bench.backend()
                    .write(
                            plan,
                            chunk -> chunk.index() < stop
                                    ? fill(chunk, WriteRules.WRITTEN, chunk.length())
                                    : Mono.<Long>never()
                                            .doOnSubscribe(subscription -> reached.tryEmitEmpty())
                                            .doOnCancel(cancelled::incrementAndGet)));
            reached.asMono().block(Bench.patience());
            write.cancel();
            bench.letOthersRun();
            assertThat(write.terminals()).isZero();
        }
        assertThat(cancelled).hasValue(12);
    }

    /** A write can be subscribed to again. If this fails, check state that belongs to the subscription. */
    @Test
    default void required_303_aRetriedWritePlanStartsFromTheBeginning(Bench bench) {
        Path path = bench.path("out");
        AtomicInteger calls = new AtomicInteger();
        Function<Chunk, Publisher<Long>> good = filling(WriteRules.WRITTEN, 25_000);
        Mono<Long> write = bench.backend()
                .write(
                        WritePlan.to(path).chunkBytes(10_000),
                        chunk -> calls.incrementAndGet() == 2
                                ? Mono.error(new IllegalStateException("once"))
                                : good.apply(chunk))
                .retry(1);
        assertThat(Bench.get(write)).isEqualTo(25_000);
        assertThat(path).hasSize(25_000);
        Content.assertHolds(path, WriteRules.WRITTEN, 0, 25_000);
    }

    /** Rules 203, 302: context and lease as in a stream. If this fails, check where writes differ from streams. */
    @Test
    default void required_302_theFunctionHasTheContextAndTheChunkEndsWithItsWrite(Bench bench) {
        List<Chunk> chunks = new CopyOnWriteArrayList<>();
        List<String> threads = new CopyOnWriteArrayList<>();
        Mono<Long> write = bench.backend()
                .write(WritePlan.to(bench.path("out")).chunkBytes(10_000), chunk -> {
                    chunks.add(chunk);
                    threads.add(Thread.currentThread().getName());
                    return Mono.deferContextual(context -> chunk.index() < context.<Integer>get("chunks")
                            ? fill(chunk, WriteRules.WRITTEN, 10_000)
                            : Mono.empty());
                })
                .contextWrite(context -> context.put("chunks", 3));
        assertThat(Bench.get(write)).isEqualTo(30_000);
        assertThat(threads).noneMatch(name -> name.startsWith("penstock"));
        bench.letOthersRun();
        assertThat(chunks)
                .hasSize(4)
                .allSatisfy(chunk -> assertThatThrownBy(chunk::region).isInstanceOf(ClosedException.class));
    }
}
