// SPDX-License-Identifier: Apache-2.0
package io.penstock.tck;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.Completion;
import io.penstock.DeviceBuffer;
import io.penstock.FileOption;
import io.penstock.StorageFile;
import io.penstock.Transfer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** Regions whose ends lie inside blocks: no byte outside is ever written, in buffer or file (rule 206). */
public interface EdgeRules extends Rules {

    /** Offsets around the blocks that devices have. */
    List<Long> OFFSETS = longs(0, 1, 511, 512, 513, 4095, 4096, 4097, 8191);

    /** Lengths inside, of, and across blocks. */
    List<Long> LENGTHS = longs(1, 2, 511, 512, 513, 4095, 4096, 4097, 12_345);

    private static List<Long> longs(long... values) {
        return LongStream.of(values).boxed().toList();
    }

    /** Rule 206: reads of every alignment. If this fails, check what a bounce buffer copies out. */
    @Test
    default void required_206_readsOfEveryAlignmentWriteTheirRegionOnly(Bench bench) {
        StorageFile file = bench.open(bench.file("data", 40_000), FileOption.READ);
        DeviceBuffer buffer = bench.poisoned(40_000);
        for (long offset : OFFSETS) {
            for (long length : LENGTHS) {
                long at = 8192 + (offset * 7 + length) % 4096; // misaligned differently from the file
                Content.poison(buffer);
                bench.move(Transfer.read(file.region(offset, length), buffer.region(at, length)));
                Content.assertPoison(buffer.region(0, at));
                Content.assertHolds(buffer.region(at, length), file.region(offset, length));
                Content.assertPoison(buffer.region(at + length, 40_000 - at - length));
            }
        }
    }

    /** Rule 206: writes of every alignment. If this fails, check how edges are read, merged and written. */
    @Test
    default void required_206_writesOfEveryAlignmentChangeTheirRegionOnly(Bench bench) {
        for (long offset : OFFSETS) {
            Path path = bench.file("data" + offset, 30_000);
            StorageFile file = bench.open(path, FileOption.READ, FileOption.WRITE);
            for (long length : LENGTHS) {
                Pattern written = new Pattern(offset * 31 + length);
                DeviceBuffer buffer = bench.filled(length + 3, written, offset - 3);
                bench.move(Transfer.write(buffer.region(3, length), file.region(offset, length)));
                Content.assertHolds(path, written, offset, length);
                Content.assertHolds(path, Pattern.of(path), 0, offset);
                // Lengths grow: nothing behind this region has been written yet.
                Content.assertHolds(path, Pattern.of(path), offset + length, 30_000 - offset - length);
                assertThat(path).hasSize(30_000);
                buffer.close();
            }
            file.close();
        }
    }

    /**
     * Rule 206: bytes of a block beyond the length of the file must not become part of it. If this fails, check
     * ftruncate.
     */
    @Test
    default void required_206_anUnalignedWriteAtTheEndRestoresTheLengthExactly(Bench bench) {
        Path path = bench.file("data", 5000);
        StorageFile file = bench.open(path, FileOption.READ, FileOption.WRITE);
        DeviceBuffer buffer = bench.filled(10_000, WriteRules.WRITTEN, 0);
        bench.move(Transfer.write(buffer.region(4990, 10), file.region(4990, 10)));
        assertThat(path).hasSize(5000);
        bench.move(Transfer.write(buffer.region(4990, 11), file.region(4990, 11)));
        assertThat(path).hasSize(5001);
        bench.move(Transfer.write(buffer.region(5001, 4000), file.region(5001, 4000)));
        assertThat(path).hasSize(9001);
        assertThat(file.size()).isEqualTo(9001);
        Content.assertHolds(path, Pattern.of(path), 0, 4990);
        Content.assertHolds(path, WriteRules.WRITTEN, 4990, 9001 - 4990);
    }

    /** Rule 206: reads at an unaligned end of file. If this fails, check the short count of a rounded-up read. */
    @Test
    default void required_206_readsAtAnUnalignedEndCountOnlyTheFilesBytes(Bench bench) {
        StorageFile file = bench.open(bench.file("data", 4097), FileOption.READ);
        DeviceBuffer buffer = bench.poisoned(12_288);
        for (long offset : new long[] {0, 1, 4095, 4096}) {
            Content.poison(buffer);
            Completion completion = bench.move(Transfer.read(file.region(offset, 8192), buffer.region(0, 8192)));
            assertThat(completion.bytes()).isEqualTo(4097 - offset);
            Content.assertHolds(buffer.region(0, 4097 - offset), file.region(offset, 4097 - offset));
            Content.assertPoison(buffer.region(8192, 4096));
        }
    }

    /** Rule 206: writes that meet inside a block, through one handle. If this fails, check the lock per block. */
    @Test
    default void required_206_concurrentWritesInsideOneBlockAllLand(Bench bench) {
        Path path = bench.file("data", 8192);
        StorageFile file = bench.open(path, FileOption.READ, FileOption.WRITE);
        writeSlices(path, List.of(bench), List.of(file));
    }

    /** Rule 206: the same through many handles and backends. If this fails, check that the lock is process-wide. */
    @Test
    default void required_206_concurrentWritesInsideOneBlockLandAcrossHandlesAndBackends(Bench bench) {
        Path path = bench.file("data", 8192);
        Bench other = bench.with(bench.options());
        writeSlices(
                path,
                List.of(bench, bench, other),
                List.of(
                        bench.open(path, FileOption.READ, FileOption.WRITE),
                        bench.open(path, FileOption.READ, FileOption.WRITE),
                        other.open(path, FileOption.READ, FileOption.WRITE)));
    }

    /**
     * Writes 8 KiB in slices of 32 bytes, all at once, distributed over the files in turn; repeatedly, to provoke
     * races.
     */
    private static void writeSlices(Path path, List<Bench> benches, List<StorageFile> files) {
        for (int round = 0; round < 5; round++) {
            Pattern written = new Pattern(100 + round);
            List<DeviceBuffer> buffers = new ArrayList<>();
            for (Bench bench : benches) {
                buffers.add(bench.filled(8192, written, 0));
            }
            List<Mono<Completion>> writes = new ArrayList<>();
            for (int slice = 0; slice < 256; slice++) {
                int turn = slice % files.size();
                long at = slice * 32L;
                Transfer write = Transfer.write(
                        buffers.get(turn).region(at, 32), files.get(turn).region(at, 32));
                writes.add(benches.get(turn).backend().submit(write));
            }
            Bench.run(Flux.merge(Flux.fromIterable(writes), 256).then());
            Content.assertHolds(path, written, 0, 8192);
            assertThat(path).hasSize(8192);
        }
    }

    /**
     * Rule 206: an aligned write beside an unaligned one must not be undone by its merge. If this fails, check which
     * writes take the lock.
     */
    @Test
    default void required_206_alignedAndUnalignedWritesOfNeighboursAllLand(Bench bench) {
        Path path = bench.path("out");
        StorageFile file = bench.open(path, FileOption.READ, FileOption.WRITE, FileOption.CREATE);
        DeviceBuffer buffer = bench.filled(1 << 20, WriteRules.WRITTEN, 0);
        List<Mono<Completion>> writes = new ArrayList<>();
        long[] lengths = {4096, 100, 3996, 8192, 512, 3584, 1, 4095};
        long at = 0;
        for (int i = 0; at + 8192 < 1 << 20; i++) {
            long length = lengths[i % lengths.length];
            writes.add(bench.backend().submit(Transfer.write(buffer.region(at, length), file.region(at, length))));
            at += length;
        }
        Bench.run(Flux.merge(Flux.fromIterable(writes), 256).then());
        assertThat(path).hasSize(at);
        Content.assertHolds(path, WriteRules.WRITTEN, 0, at);
    }
}
