// SPDX-License-Identifier: Apache-2.0
package io.penstock.tck;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.FileOption;
import io.penstock.StorageFile;
import io.penstock.StreamPlan;
import io.penstock.WritePlan;
import java.nio.ByteBuffer;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.test.publisher.TestPublisher;

/** Files as ByteBuffers of the heap, and ByteBuffers as files (rules 101, 103, 104). */
public interface ByteRules extends Rules {

    /** Returns the content from {@code offset} on, in a ByteBuffer with a margin on both sides. */
    static ByteBuffer piece(long offset, int length) {
        ByteBuffer piece = ByteBuffer.allocate(length + 7).position(3).limit(length + 3);
        WriteRules.WRITTEN.fill(piece, offset);
        return piece.position(3);
    }

    /** Returns the content from {@code offset} on, {@code total} bytes, in pieces of {@code length}. */
    static Flux<ByteBuffer> pieces(long offset, int total, int length) {
        return Flux.range(0, (total + length - 1) / length)
                .map(i -> piece(offset + (long) i * length, Math.min(length, total - i * length)));
    }

    /** The pieces together are the file. If this fails, check the copy of the last chunk. */
    @Test
    default void required_103_aFileIsReadIntoTheHeap(Bench bench) {
        for (int total : new int[] {0, 1, 300_000, 1_000_003}) {
            Path path = bench.file("data" + total, total);
            List<ByteBuffer> all =
                    Witness.<ByteBuffer>of(bench.backend().read(path)).all();
            long at = 0;
            for (ByteBuffer piece : all) {
                int length = piece.remaining();
                assertThat(Pattern.of(path).difference(piece, at)).isEqualTo(-1);
                at += length;
            }
            assertThat(at).isEqualTo(total);
        }
    }

    /** Each piece is the subscriber's. If this fails, check whether two of them share memory. */
    @Test
    default void required_203_aPieceOutlivesItsStream(Bench bench) {
        Path path = bench.file("data", 50_000);
        StorageFile file = bench.open(path, FileOption.READ);
        StreamPlan plan =
                StreamPlan.of(file.region(10_000, 30_000)).chunkBytes(7000).depth(2);
        List<ByteBuffer> all =
                Witness.<ByteBuffer>of(bench.backend().read(plan)).all();
        assertThat(all).extracting(ByteBuffer::remaining).containsExactly(7000, 7000, 7000, 7000, 2000);
        for (int i = 0; i < all.size(); i++) {
            ByteBuffer piece = all.get(i);
            assertThat(Pattern.of(path).difference(piece, 10_000 + i * 7000L)).isEqualTo(-1);
        }
        assertThatThrownBy(() -> bench.backend().read(plan.chunkBytes(1L << 31)))
                .isInstanceOf(IllegalArgumentException.class);
        assertThat(Witness.of(bench.backend().read(bench.path("missing"))).error())
                .isInstanceOf(NoSuchFileException.class);
    }

    /** Nothing is emitted that was not requested. If this fails, check the demand on the stream. */
    @Test
    default void required_104_piecesAreEmittedOnDemand(Bench bench) {
        StreamPlan plan = StreamPlan.of(bench.file("data", 50_000)).chunkBytes(10_000);
        Witness<ByteBuffer> reading = Witness.of(bench.backend().read(plan), 2);
        reading.awaitValues(2);
        bench.letOthersRun();
        assertThat(reading.values()).hasSize(2);
        reading.cancel();
        bench.letOthersRun();
        assertThat(reading.terminals()).isZero();
    }

    /**
     * Pieces of any size become the file. If this fails, check a piece that begins in one chunk and ends in another.
     */
    @Test
    default void required_103_byteBuffersAreWrittenOneBehindTheOther(Bench bench) {
        Path path = bench.path("out");
        for (int length : new int[] {1, 999, 10_000, 25_000}) {
            int total = length == 1 ? 2000 : 70_001;
            WritePlan plan =
                    WritePlan.to(path).chunkBytes(length == 1 ? 300 : 10_000).depth(2);
            Mono<Long> write = bench.backend().write(plan, pieces(0, total, length));
            assertThat(Bench.get(write)).as("pieces of %d", length).isEqualTo(total);
            assertThat(path).hasSize(total);
            Content.assertHolds(path, WriteRules.WRITTEN, 0, total);
        }
        assertThat(Bench.get(bench.backend().write(path, Flux.empty()))).isZero();
        assertThat(path).isEmptyFile();
        assertThat(Bench.get(bench.backend().write(path, pieces(0, 600_000, 100_000))))
                .isEqualTo(600_000);
        Content.assertHolds(path, WriteRules.WRITTEN, 0, 600_000);
    }

    /** A piece may be reused once the next one is requested. If this fails, check what is copied late. */
    @Test
    default void required_104_oneByteBufferIsRequestedAtATimeAndThenItsMemoryMayBeReused(Bench bench) {
        Path path = bench.path("out");
        ByteBuffer memory = ByteBuffer.allocateDirect(3000);
        AtomicLong most = new AtomicLong();
        Flux<ByteBuffer> reused = Flux.<ByteBuffer, Integer>generate(() -> 0, (i, sink) -> {
                    WriteRules.WRITTEN.fill(memory.clear(), i * 3000L);
                    sink.next(memory.flip());
                    if (i == 19) {
                        sink.complete();
                    }
                    return i + 1;
                })
                .doOnRequest(n -> most.accumulateAndGet(n, Math::max));
        assertThat(Bench.get(bench.backend().write(WritePlan.to(path).chunkBytes(10_000), reused)))
                .isEqualTo(60_000);
        assertThat(most).hasValue(1);
        assertThat(memory.remaining()).as("its position did not move").isEqualTo(3000);
        Content.assertHolds(path, WriteRules.WRITTEN, 0, 60_000);
    }

    /** More bytes than the region are an error, not a loss. If this fails, check the end of a full region. */
    @Test
    default void required_206_moreByteBuffersThanTheRegionHasAreAnError(Bench bench) {
        Path path = bench.file("data", 50_000);
        StorageFile file = bench.open(path, FileOption.READ, FileOption.WRITE);
        WritePlan plan = WritePlan.to(file.region(10_000, 20_000)).chunkBytes(8000);
        assertThat(Bench.get(bench.backend().write(plan, pieces(10_000, 20_000, 3000))))
                .isEqualTo(20_000);
        assertThat(Witness.of(bench.backend().write(plan, pieces(10_000, 20_001, 3000)))
                        .error())
                .isInstanceOf(IndexOutOfBoundsException.class)
                .hasMessageContaining("20000");
        Content.assertHolds(path, WriteRules.WRITTEN, 10_000, 20_000);
        Content.assertHolds(path, Pattern.of(path), 30_000, 20_000);
    }

    /** Errors of the source and of the file end the write. If this fails, check who waits for the other. */
    @Test
    default void required_101_anErrorOfTheSourceOrOfTheFileIsSignalled(Bench bench) {
        Path path = bench.path("out");
        for (int before : new int[] {0, 4}) {
            Flux<ByteBuffer> failing = pieces(0, before * 10_000, 10_000)
                    .concatWith(Mono.error(new IllegalStateException("the source's own")));
            Witness<Long> write =
                    Witness.of(bench.backend().write(WritePlan.to(path).chunkBytes(10_000), failing));
            assertThat(write.error()).hasMessageContaining("the source's own");
            Content.assertHolds(path, WriteRules.WRITTEN, 0, before * 10_000L);
        }
        TestPublisher<ByteBuffer> untouched = TestPublisher.create();
        Path nowhere = bench.path("no-such-folder").resolve("out");
        assertThat(Witness.of(bench.backend().write(nowhere, untouched.flux())).error())
                .isInstanceOf(NoSuchFileException.class);
        untouched.assertWasNotSubscribed();
    }

    /** A cancel reaches the source. If this fails, check the source that waits while nothing is requested. */
    @Test
    default void required_101_aCancelledWriteCancelsTheSource(Bench bench) {
        for (int pieces : new int[] {0, 1, 3}) {
            TestPublisher<ByteBuffer> source = TestPublisher.create();
            Witness<Long> write = Witness.of(
                    bench.backend().write(WritePlan.to(bench.path("out")).chunkBytes(1000), source.flux()));
            for (int i = 0; i < pieces; i++) {
                awaitRequested(source);
                source.next(piece(i * 700L, 700));
            }
            awaitRequested(source);
            write.cancel();
            source.assertCancelled();
            bench.letOthersRun();
            assertThat(write.terminals()).isZero();
        }
    }

    private static void awaitRequested(TestPublisher<?> source) {
        long end = System.nanoTime() + Bench.patience().toNanos();
        List<AssertionError> last = new ArrayList<>();
        do {
            try {
                source.assertMinRequested(1);
                return;
            } catch (AssertionError notYet) {
                last.add(0, notYet);
                Thread.onSpinWait();
            }
        } while (System.nanoTime() - end < 0);
        throw last.get(0);
    }
}
