// SPDX-License-Identifier: Apache-2.0
package io.penstock.tck;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.BufferRegion;
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

/** Transfers of several pairs, and gathers (rules 103, 206, 402). */
public interface PairRules extends Rules {

    /** Rule 103: every pair is moved, and counted. If this fails, check which pair a segment is accounted to. */
    @Test
    default void required_103_aTransferMovesAllItsPairsAcrossFilesAndBuffers(Bench bench) {
        StorageFile left = bench.open(bench.file("left", 50_000), FileOption.READ);
        StorageFile right = bench.open(bench.file("right", 50_000), FileOption.READ);
        DeviceBuffer first = bench.poisoned(40_000);
        DeviceBuffer second = bench.poisoned(40_000);
        Transfer read = Transfer.read(left.region(1000, 20_000), first.region(0, 20_000))
                .and(right.region(0, 10_000), second.region(30_000, 10_000))
                .and(left.region(40_000, 5000), second.region(0, 5000));
        Completion completion = bench.move(read);
        assertThat(completion.bytes()).isEqualTo(35_000);
        assertThat(List.of(completion.bytes(0), completion.bytes(1), completion.bytes(2)))
                .containsExactly(20_000L, 10_000L, 5000L);
        Content.assertHolds(first.region(0, 20_000), left.region(1000, 20_000));
        Content.assertPoison(first.region(20_000, 20_000));
        Content.assertHolds(second.region(0, 5000), left.region(40_000, 5000));
        Content.assertPoison(second.region(5000, 25_000));
        Content.assertHolds(second.region(30_000, 10_000), right.region(0, 10_000));
    }

    /** Rule 103: one pair at the end of its file does not shorten the others. If this fails, check the short count. */
    @Test
    default void required_103_eachPairIsShortForItself(Bench bench) {
        StorageFile file = bench.open(bench.file("data", 10_000), FileOption.READ);
        DeviceBuffer buffer = bench.poisoned(24_576);
        Transfer read = Transfer.read(file.region(8192, 8192), buffer.region(0, 8192))
                .and(file.region(0, 8192), buffer.region(8192, 8192))
                .and(file.region(20_000, 8192), buffer.region(16_384, 8192));
        Completion completion = bench.move(read);
        assertThat(completion.bytes(0)).isEqualTo(10_000 - 8192);
        assertThat(completion.bytes(1)).isEqualTo(8192);
        assertThat(completion.bytes(2)).isZero();
        assertThat(completion.bytes()).isEqualTo(10_000);
        Content.assertHolds(buffer.region(0, 1808), file.region(8192, 1808));
        Content.assertHolds(buffer.region(8192, 8192), file.region(0, 8192));
        Content.assertPoison(buffer.region(16_384, 8192));
    }

    /** Rule 103: more pairs than the queue depth. If this fails, check how a transfer waits for a free id. */
    @Test
    default void required_103_aThousandPairsOfAWriteAllLand(Bench bench) {
        Path path = bench.file("data", 1_200_000);
        StorageFile file = bench.open(path, FileOption.READ, FileOption.WRITE);
        DeviceBuffer buffer = bench.filled(1_200_000, WriteRules.WRITTEN, 0);
        List<Transfer> pairs = new ArrayList<>();
        for (long at = 0; at < 1_200_000; at += 1200) {
            pairs.add(Transfer.write(buffer.region(at, 600), file.region(at, 600)));
        }
        Transfer write = pairs.get(0).and(pairs.subList(1, pairs.size()));
        assertThat(write.pairs()).isEqualTo(1000);
        assertThat(bench.move(write).bytes()).isEqualTo(600_000);
        for (long at = 0; at < 1_200_000; at += 1200) {
            Content.assertHolds(path, WriteRules.WRITTEN, at, 600);
            Content.assertHolds(path, Pattern.of(path), at + 600, 600);
        }
    }

    /** Rule 103: an empty pair counts as a pair. If this fails, check what completes a transfer without segments. */
    @Test
    default void required_103_emptyPairsAmongOthersAreHarmless(Bench bench) {
        StorageFile file = bench.open(bench.file("data", 4096), FileOption.READ);
        DeviceBuffer buffer = bench.poisoned(12_288);
        Transfer read = Transfer.read(file.region(9, 0), buffer.region(9, 0))
                .and(file.region(0, 4096), buffer.region(4096, 4096))
                .and(file.region(4096, 0), buffer.region(12_288, 0));
        Completion completion = bench.move(read);
        assertThat(completion.bytes()).isEqualTo(4096);
        assertThat(completion.bytes(0)).isZero();
        assertThat(completion.bytes(1)).isEqualTo(4096);
        assertThat(completion.bytes(2)).isZero();
        Content.assertPoison(buffer.region(0, 4096));
        Content.assertHolds(buffer.region(4096, 4096), file.all());
        Content.assertPoison(buffer.region(8192, 4096));
    }

    /**
     * Rule 206: blocks are stored one after the other, in the order of the offsets. If this fails, check the packing.
     */
    @Test
    default void required_206_aGatherPlacesItsBlocksOneAfterTheOther(Bench bench) {
        StorageFile file = bench.open(bench.file("data", 1 << 20), FileOption.READ);
        Random random = new Random(7);
        for (int length : new int[] {1, 100, 512, 4096, 5000}) {
            long[] offsets = random.longs(300, 0, (1 << 20) - length).toArray();
            offsets[17] = offsets[3]; // the same block twice
            DeviceBuffer buffer = bench.poisoned(300L * length + 64);
            BufferRegion target = buffer.region(64, 300L * length);
            Completion completion = bench.move(Transfer.gather(file, offsets, length, target));
            assertThat(completion.bytes()).isEqualTo(300L * length);
            for (int i = 0; i < 300; i++) {
                Content.assertHolds(target.slice((long) i * length, length), file.region(offsets[i], length));
            }
            Content.assertPoison(buffer.region(0, 64));
        }
    }

    /** Rule 103: blocks at and beyond the end. If this fails, check the count of a packed segment. */
    @Test
    default void required_103_aGatherIsShortPerBlock(Bench bench) {
        StorageFile file = bench.open(bench.file("data", 10_000), FileOption.READ);
        DeviceBuffer buffer = bench.poisoned(4 * 4096);
        Completion completion =
                bench.move(Transfer.gather(file, new long[] {8000, 0, 10_000, 4096}, 4096, buffer.all()));
        assertThat(List.of(completion.bytes(0), completion.bytes(1), completion.bytes(2), completion.bytes(3)))
                .containsExactly(2000L, 4096L, 0L, 4096L);
        assertThat(completion.bytes()).isEqualTo(2000 + 4096 + 4096);
        Content.assertHolds(buffer.region(0, 2000), file.region(8000, 2000));
        Content.assertPoison(buffer.region(2000, 2096));
        Content.assertHolds(buffer.region(4096, 4096), file.region(0, 4096));
        Content.assertPoison(buffer.region(8192, 4096));
        Content.assertHolds(buffer.region(12_288, 4096), file.region(4096, 4096));
    }

    /** Rule 402: regions that do not fit are a caller bug. If this fails, check the arguments of {@code Transfer}. */
    @Test
    default void required_402_pairsAndGathersThatDoNotFitAreRefusedAtOnce(Bench bench) {
        StorageFile file = bench.open(bench.file("data", 10_000), FileOption.READ);
        DeviceBuffer buffer = bench.poisoned(8192);
        Transfer gather = Transfer.gather(file, new long[] {0, 1}, 4096, buffer.all());
        Class<IllegalArgumentException> refused = IllegalArgumentException.class;
        assertThatThrownBy(() -> Transfer.read(file.region(0, 100), buffer.region(0, 99)))
                .isInstanceOf(refused);
        assertThatThrownBy(() -> Transfer.gather(file, new long[0], 1, buffer.region(0, 0)))
                .isInstanceOf(refused);
        assertThatThrownBy(() -> Transfer.gather(file, new long[] {0}, 4096, buffer.all()))
                .isInstanceOf(refused);
        assertThatThrownBy(() -> Transfer.gather(file, new long[] {-1, 0}, 4096, buffer.all()))
                .isInstanceOf(refused);
        assertThatThrownBy(() -> gather.and(file.region(0, 1), buffer.region(0, 1)))
                .isInstanceOf(refused);
    }

    /** Rule 402: the direction that a file was opened for. If this fails, check the arguments of {@code submit}. */
    @Test
    default void required_402_aTransferAgainstTheFilesDirectionIsRefusedAtOnce(Bench bench) {
        StorageFile readable = bench.open(bench.file("in", 4096), FileOption.READ);
        StorageFile writable = bench.open(bench.file("out", 4096), FileOption.WRITE);
        DeviceBuffer buffer = bench.poisoned(4096);
        Transfer write = Transfer.write(buffer.all(), readable.all());
        Transfer read = Transfer.read(writable.all(), buffer.all());
        Transfer mixed = Transfer.read(readable.region(0, 100), buffer.region(0, 100))
                .and(writable.region(0, 100), buffer.region(100, 100));
        for (Transfer transfer : List.of(write, read, mixed)) {
            assertThatThrownBy(() -> bench.backend().submit(transfer))
                    .as(transfer.toString())
                    .isInstanceOf(IllegalArgumentException.class);
        }
        Content.assertHolds(readable.path(), Pattern.of(readable.path()), 0, 4096);
    }

    /** Rule 402: memory of another backend is refused. If this fails, check the arguments of {@code submit}. */
    @Test
    default void required_402_aBufferOfAnotherBackendIsRefusedAtOnce(Bench bench) {
        StorageFile file = bench.open(bench.file("data", 4096), FileOption.READ);
        DeviceBuffer foreign = bench.with(bench.options()).poisoned(4096);
        assertThatThrownBy(() -> bench.backend().submit(Transfer.read(file.all(), foreign.all())))
                .isInstanceOf(IllegalArgumentException.class);
        Content.assertPoison(foreign.all());
    }
}
