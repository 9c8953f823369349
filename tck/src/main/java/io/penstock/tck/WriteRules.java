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
import java.util.Collections;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** Writes: the right bytes at the right place and no others (rules 103, 206). */
public interface WriteRules extends Rules {

    /** The pattern that these rules write; differs from the pattern of every file. */
    Pattern WRITTEN = new Pattern(0x5EED);

    /** Rule 103: a write writes its whole region. If this fails, check how a short native count is continued. */
    @Test
    default void required_103_aWriteWritesTheBytesOfTheBuffer(Bench bench) {
        Path path = bench.path("out");
        StorageFile file = bench.open(path, FileOption.WRITE, FileOption.CREATE);
        DeviceBuffer buffer = bench.filled(1_000_000, WRITTEN, 0);
        Completion completion = bench.move(Transfer.write(buffer.all(), file.region(0, 1_000_000)));
        assertThat(completion.bytes()).isEqualTo(1_000_000);
        assertThat(path).hasSize(1_000_000);
        Content.assertHolds(path, WRITTEN, 0, 1_000_000);
    }

    /** Rule 103: segments are written from the right offsets. If this fails, check the planner's offsets. */
    @Test
    default void required_103_aWriteOfManySegmentsIsComplete(Bench bench) {
        Bench small = bench.with(bench.options().with(CommonOptions.SEGMENT_BYTES, 16L << 10));
        Path path = small.path("out");
        StorageFile file = small.open(path, FileOption.WRITE, FileOption.CREATE);
        long length = (3 << 20) + 4097;
        DeviceBuffer buffer = small.filled(length + 512, WRITTEN, 0);
        small.move(Transfer.write(buffer.region(512, length), file.region(0, length)));
        assertThat(path).hasSize(length);
        Content.assertHolds(Content.bytes(path, 0, length), WRITTEN, 512, length);
    }

    /** Rule 206: bytes around the region are unchanged. If this fails, check what is merged and under which lock. */
    @Test
    default void required_206_aWriteInsideAFileLeavesTheRestAlone(Bench bench) {
        Path path = bench.file("data", 100_000);
        StorageFile file = bench.open(path, FileOption.READ, FileOption.WRITE);
        DeviceBuffer buffer = bench.filled(8192, WRITTEN, 40_960);
        bench.move(Transfer.write(buffer.all(), file.region(40_960, 8192)));
        assertThat(path).hasSize(100_000);
        Content.assertHolds(path, Pattern.of(path), 0, 40_960);
        Content.assertHolds(path, WRITTEN, 40_960, 8192);
        Content.assertHolds(path, Pattern.of(path), 49_152, 100_000 - 49_152);
    }

    /** A write beyond the end extends the file, with a hole. If this fails, check how the length is restored. */
    @Test
    default void required_206_aWriteBehindTheEndLengthensTheFileExactly(Bench bench) {
        writeBehindTheEnd(bench, "data", bench.filled(3000, WRITTEN, 20_000));
    }

    /**
     * The hole is zero whatever bounce buffers held before. If this fails, check what clears them beyond the end of the
     * file.
     */
    @Test
    default void required_206_aHoleIsZeroWhateverWasMovedBefore(Bench bench) {
        StorageFile full = bench.open(bench.file("full", 200_000), FileOption.READ, FileOption.WRITE);
        DeviceBuffer buffer = bench.filled(3000, WRITTEN, 20_000);
        for (int i = 0; i < 5; i++) {
            Bench.run(Flux.range(0, 64)
                    .flatMap(k -> bench.backend().submit(Transfer.write(buffer.all(), full.region(3001L * k, 3000))))
                    .then());
            writeBehindTheEnd(bench, "hole" + i, buffer);
        }
    }

    private static void writeBehindTheEnd(Bench bench, String name, DeviceBuffer buffer) {
        Path path = bench.file(name, 1000);
        StorageFile file = bench.open(path, FileOption.READ, FileOption.WRITE);
        bench.move(Transfer.write(buffer.all(), file.region(20_000, 3000)));
        assertThat(path).hasSize(23_000);
        assertThat(file.size()).isEqualTo(23_000);
        Content.assertHolds(path, Pattern.of(path), 0, 1000);
        Content.assertAll(Content.bytes(path, 1000, 19_000), (byte) 0);
        Content.assertHolds(path, WRITTEN, 20_000, 3000);
    }

    /** Offsets are 64 bits wide. If this fails, check for an int, or two 32-bit halves in the wrong order. */
    @Test
    default void required_206_aWriteAcrossFourGibibytesWritesItsRegionOnly(Bench bench) {
        long from = ReadRules.FOUR_GIB - 50_000;
        Path path = bench.file("big", 100_000);
        StorageFile file = bench.open(path, FileOption.READ, FileOption.WRITE);
        DeviceBuffer buffer = bench.filled(100_000, WRITTEN, from);
        bench.move(Transfer.write(buffer.all(), file.region(from, 100_000)));
        assertThat(path).hasSize(from + 100_000);
        Content.assertHolds(path, WRITTEN, from, 100_000);
        Content.assertHolds(path, Pattern.of(path), 0, 100_000);
    }

    /** An empty write changes nothing. If this fails, check regions of length 0. */
    @Test
    default void required_206_anEmptyWriteChangesNothing(Bench bench) {
        Path path = bench.file("data", 1000);
        StorageFile file = bench.open(path, FileOption.READ, FileOption.WRITE);
        DeviceBuffer buffer = bench.filled(10, WRITTEN, 0);
        assertThat(bench.move(Transfer.write(buffer.region(3, 0), file.region(5000, 0)))
                        .bytes())
                .isZero();
        assertThat(path).hasSize(1000);
        Content.assertHolds(path, Pattern.of(path), 0, 1000);
    }

    /** Writers do not disturb each other. If this fails, check ids, and edges that share a block. */
    @Test
    default void required_206_concurrentWritesOfNeighboursAllLand(Bench bench) {
        Path path = bench.path("out");
        StorageFile file = bench.open(path, FileOption.READ, FileOption.WRITE, FileOption.CREATE);
        Random random = new Random(206);
        List<Transfer> writes = new ArrayList<>();
        long length = 0;
        DeviceBuffer buffer = bench.filled(1 << 20, WRITTEN, 0);
        while (writes.size() < 200) {
            long bytes = 1L + random.nextInt(5000);
            writes.add(Transfer.write(buffer.region(length, bytes), file.region(length, bytes)));
            length += bytes;
        }
        Collections.shuffle(writes, random);
        Bench.run(Flux.merge(Flux.fromIterable(writes).map(bench.backend()::submit), 200)
                .then());
        assertThat(path).hasSize(length);
        Content.assertHolds(path, WRITTEN, 0, length);
    }

    /** Readers and writers of one file. If this fails, check that a read sees completed writes. */
    @Test
    default void required_206_aReadAfterAWriteSeesIt(Bench bench) {
        StorageFile file = bench.open(bench.file("data", 200_000), FileOption.READ, FileOption.WRITE);
        DeviceBuffer source = bench.filled(200_000, WRITTEN, 0);
        DeviceBuffer target = bench.poisoned(200_000);
        List<Mono<Completion>> chains = new ArrayList<>();
        for (long at = 0; at < 200_000; at += 2500) {
            Transfer write = Transfer.write(source.region(at, 2500), file.region(at, 2500));
            Transfer read = Transfer.read(file.region(at, 2500), target.region(at, 2500));
            chains.add(bench.backend().submit(write).then(bench.backend().submit(read)));
        }
        Bench.run(Flux.merge(chains).then());
        Content.assertHolds(Content.bytes(target.all()), WRITTEN, 0, 200_000);
    }
}
