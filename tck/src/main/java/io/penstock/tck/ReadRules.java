// SPDX-License-Identifier: Apache-2.0
package io.penstock.tck;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.CommonOptions;
import io.penstock.Completion;
import io.penstock.DeviceBuffer;
import io.penstock.FileOption;
import io.penstock.StorageFile;
import io.penstock.Transfer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** Reads: the right bytes, all of them, and an accurate completion (rules 103, 206). */
public interface ReadRules extends Rules {

    /** Four gibibytes, where 32-bit offsets wrap. */
    long FOUR_GIB = 1L << 32;

    /** Rule 103: a read returns the whole region. If this fails, check offsets and the end of the last segment. */
    @Test
    default void required_103_aReadBringsTheBytesOfTheFile(Bench bench) {
        StorageFile file = bench.open(bench.file("data", 1_000_000), FileOption.READ);
        DeviceBuffer buffer = bench.poisoned(file.size());
        Completion completion = bench.move(Transfer.read(file.all(), buffer.all()));
        assertThat(completion.bytes()).isEqualTo(1_000_000);
        Content.assertHolds(buffer.all(), file.all());
    }

    /** Rules 103, 206: segments are stored at the right offsets. If this fails, check the planner's device offsets. */
    @Test
    default void required_103_aReadOfManySegmentsIsComplete(Bench bench) {
        Bench small = bench.with(bench.options().with(CommonOptions.SEGMENT_BYTES, 16L << 10));
        StorageFile file = small.open(small.file("data", (5 << 20) + 4097), FileOption.READ);
        DeviceBuffer buffer = small.poisoned(file.size() + 8192);
        Completion completion = small.move(Transfer.read(file.all(), buffer.region(4096, file.size())));
        assertThat(completion.bytes()).isEqualTo(file.size());
        Content.assertHolds(buffer.region(4096, file.size()), file.all());
        Content.assertPoison(buffer.region(0, 4096));
        Content.assertPoison(buffer.region(4096 + file.size(), 4096));
    }

    /** Rule 103: short only at the end of the file. If this fails, check how a short native count is continued. */
    @Test
    default void required_103_aReadAcrossTheEndIsShortAndTouchesNothingBehind(Bench bench) {
        StorageFile file = bench.open(bench.file("data", 10_000), FileOption.READ);
        DeviceBuffer buffer = bench.poisoned(40_000);
        Completion completion = bench.move(Transfer.read(file.region(4096, 32_768), buffer.region(0, 32_768)));
        assertThat(completion.bytes()).isEqualTo(10_000 - 4096);
        assertThat(completion.bytes(0)).isEqualTo(10_000 - 4096);
        Content.assertHolds(buffer.region(0, 10_000 - 4096), file.region(4096, 10_000 - 4096));
        Content.assertPoison(buffer.region(32_768, 40_000 - 32_768)); // inside the region, a device may fill its block
    }

    /** Rule 103: a read beyond the end returns nothing. If this fails, check a native count of 0. */
    @Test
    default void required_103_aReadBeyondTheEndReturnsNothing(Bench bench) {
        StorageFile file = bench.open(bench.file("data", 5000), FileOption.READ);
        DeviceBuffer buffer = bench.poisoned(4096);
        for (long offset : new long[] {5000, 8192, FOUR_GIB, 1L << 40}) {
            Completion completion = bench.move(Transfer.read(file.region(offset, 4096), buffer.all()));
            assertThat(completion.bytes()).as("bytes at %d of 5000", offset).isZero();
        }
        Content.assertPoison(buffer.all());
    }

    /** Rule 103: an empty file can be read. If this fails, check regions of length 0. */
    @Test
    default void required_103_anEmptyFileAndAnEmptyRegionReadAsNothing(Bench bench) {
        StorageFile empty = bench.open(bench.file("empty", 0), FileOption.READ);
        StorageFile full = bench.open(bench.file("full", 4096), FileOption.READ);
        DeviceBuffer buffer = bench.poisoned(4096);
        assertThat(bench.move(Transfer.read(empty.region(0, 4096), buffer.all()))
                        .bytes())
                .isZero();
        assertThat(bench.move(Transfer.read(empty.all(), buffer.region(0, 0))).bytes())
                .isZero();
        assertThat(bench.move(Transfer.read(full.region(100, 0), buffer.region(7, 0)))
                        .bytes())
                .isZero();
        Content.assertPoison(buffer.all());
    }

    /** Rule 103: holes read as zeros, and are written into memory. If this fails, check what skips holes. */
    @Test
    default void required_103_holesOfASparseFileReadAsZeros(Bench bench) {
        Path path = bench.sparse("sparse", 300_000, new long[] {100_000, 110_000});
        StorageFile file = bench.open(path, FileOption.READ);
        DeviceBuffer buffer = bench.poisoned(300_000);
        assertThat(bench.move(Transfer.read(file.all(), buffer.all())).bytes()).isEqualTo(300_000);
        Content.assertAll(Content.bytes(buffer.region(0, 100_000)), (byte) 0);
        Content.assertHolds(buffer.region(100_000, 10_000), file.region(100_000, 10_000));
        Content.assertAll(Content.bytes(buffer.region(110_000, 190_000)), (byte) 0);
    }

    /** Offsets are 64 bits wide. If this fails, check for an int, or two 32-bit halves in the wrong order. */
    @Test
    default void required_103_readsOnBothSidesOfFourGibibytesReturnTheRightBytes(Bench bench) {
        long from = FOUR_GIB - 100_000;
        Path path =
                bench.sparse("big", FOUR_GIB + 200_000, new long[] {0, 4096}, new long[] {from, FOUR_GIB + 200_000});
        StorageFile file = bench.open(path, FileOption.READ);
        assertThat(file.size()).isEqualTo(FOUR_GIB + 200_000);
        DeviceBuffer buffer = bench.poisoned(300_000);
        assertThat(bench.move(Transfer.read(file.region(from, 300_000), buffer.all()))
                        .bytes())
                .isEqualTo(300_000);
        Content.assertHolds(buffer.all(), file.region(from, 300_000));

        Completion end = bench.move(Transfer.read(file.region(FOUR_GIB + 100_000, 300_000), buffer.all()));
        assertThat(end.bytes()).isEqualTo(100_000);
        Content.assertHolds(buffer.region(0, 100_000), file.region(FOUR_GIB + 100_000, 100_000));
    }

    /** Readers do not disturb each other. If this fails, check ids that are assigned twice. */
    @Test
    default void required_206_concurrentReadsReturnEachItsOwnBytes(Bench bench) {
        StorageFile file = bench.open(bench.file("data", 2 << 20), FileOption.READ);
        DeviceBuffer buffer = bench.poisoned(400L * 8192);
        Random random = new Random(206);
        List<Mono<Completion>> reads = new ArrayList<>();
        List<Transfer> transfers = new ArrayList<>();
        for (int i = 0; i < 400; i++) {
            long length = 1L + random.nextInt(8192);
            long offset = random.nextLong((2L << 20) - 8192);
            Transfer read = Transfer.read(file.region(offset, length), buffer.region(i * 8192L, length));
            transfers.add(read);
            reads.add(bench.backend().submit(read));
        }
        Bench.run(Flux.merge(Flux.fromIterable(reads), 400).then());
        for (int i = 0; i < 400; i++) {
            long length = transfers.get(i).length();
            Content.assertHolds(
                    buffer.region(i * 8192L, length), transfers.get(i).fileRegion(0));
            Content.assertPoison(buffer.region(i * 8192L + length, 8192 - length));
        }
    }

    /** A completion is accurate. If this fails, check where its times and counts are taken. */
    @Test
    default void required_api_theCompletionNamesTransferPathAndTimes(Bench bench) {
        StorageFile file = bench.open(bench.file("data", 4096), FileOption.READ);
        DeviceBuffer buffer = bench.poisoned(4096);
        Transfer read = Transfer.read(file.all(), buffer.all()).tag("mine");
        Completion completion = bench.move(read);
        assertThat(completion.transfer()).isSameAs(read);
        assertThat(completion.transfer().tag()).contains("mine");
        assertThat(completion.path()).isEqualTo(bench.subject().path());
        assertThat(completion.evidence()).isNotNull();
        assertThat(completion.reason()).isNotNull();
        assertThat(completion.startedNanos() - completion.subscribedNanos())
                .as("started after subscribed")
                .isNotNegative();
        assertThat(completion.endedNanos() - completion.startedNanos())
                .as("ended after started")
                .isNotNegative();
    }

    /** Publishers are lazy and can be subscribed to again. If this fails, check what {@code submit} does at once. */
    @Test
    default void required_303_nothingMovesBeforeSubscriptionAndEachSubscriptionMoves(Bench bench) {
        StorageFile file = bench.open(bench.file("data", 4096), FileOption.READ);
        DeviceBuffer buffer = bench.poisoned(4096);
        Mono<Completion> read = bench.backend().submit(Transfer.read(file.all(), buffer.all()));
        bench.letOthersRun();
        Content.assertPoison(buffer.all());
        for (int i = 0; i < 2; i++) {
            Content.poison(buffer);
            assertThat(Bench.get(read).bytes()).isEqualTo(4096);
            Content.assertHolds(buffer.all(), file.all());
        }
    }
}
