// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.staging;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.Transfer;
import io.penstock.engine.spi.DeviceMemory;
import io.penstock.engine.spi.Request;
import io.penstock.engine.spi.staging.ThreadRule;
import java.util.Arrays;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class GatherTest {

    private static final int SIZE = 100_000;

    private final FakeDevice.Memory memory = new FakeDevice.Memory(SIZE);
    private final Stage stage = new Stage(ThreadRule.MANY, 1, 4, 1);

    private static Request pack(
            Stage stage, Transfer gather, FakeFile file, DeviceMemory memory, int first, int count) {
        long bytes = count * gather.fileRegion(0).length();
        return stage.requests
                .next(0)
                .file(Request.Kind.READ, file, gather.fileOffset(first), bytes)
                .memory(memory, first * gather.fileRegion(0).length())
                .packed(gather, first, count);
    }

    private void assertPairs(Transfer gather, FakeFile file, int first, int count) {
        int length = (int) gather.fileRegion(0).length();
        for (int pair = first; pair < first + count; pair++) {
            int from = (int) gather.fileOffset(pair);
            assertThat(Arrays.copyOfRange(memory.bytes, pair * length, (pair + 1) * length))
                    .as("pair %s", pair)
                    .isEqualTo(Arrays.copyOfRange(file.bytes, from, from + length));
        }
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 512, 4096})
    void manyPairsFillOneStagingBufferAndAreCopiedOnce(long block) {
        FakeFile file = new FakeFile(SIZE, block, 1);
        Transfer gather = Gathers.of(1000, 5000, 77, 90_001, 4096, 5096, 6096, 4095, 12_287, 0);
        stage.queue.enqueue(pack(stage, gather, file, memory, 1, 8));
        assertThat(stage.result(0)).isEqualTo(8000);
        assertPairs(gather, file, 1, 8);
        assertThat(stage.device.started).as("copies").isEqualTo(1);
        assertThat(Arrays.copyOfRange(memory.bytes, 0, 1000))
                .as("not asked for")
                .containsOnly(0);
        stage.close();
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 512, 4096})
    void packedReadThatTheFileCutsShortCountsThePairsBefore(long block) {
        FakeFile file = new FakeFile(10_100, block, 1);
        stage.host.shortCounts = false;
        Transfer gather = Gathers.of(1000, 500, 9500, 20);
        stage.queue.enqueue(pack(stage, gather, file, memory, 0, 3));
        assertThat(stage.result(0)).isEqualTo(1600);
        assertPairs(gather, file, 0, 1);
        assertThat(Arrays.copyOfRange(memory.bytes, 1600, 4000)).containsOnly(0);
        stage.close();
    }

    @Test
    void pairsThatFollowOneAnotherInTheFileAreReadAsOne() {
        FakeFile file = new FakeFile(SIZE, 1, 1);
        stage.host.shortCounts = false;
        Transfer gather = Gathers.of(1000, 0, 1000, 2000, 9000, 10_000);
        stage.queue.enqueue(pack(stage, gather, file, memory, 0, 5));
        assertThat(stage.result(0)).isEqualTo(5000);
        assertPairs(gather, file, 0, 5);
        assertThat(stage.host.calls).isEqualTo(2);
        stage.close();
    }

    @Test
    void packedPairsReachReachableMemoryWithoutTheDevice() {
        FakeFile file = new FakeFile(SIZE, 512, 1);
        DeviceMemory reachable = stage.host.allocate(4096);
        Arrays.fill(stage.host.space, (byte) 7);
        Transfer gather = Gathers.of(100, 300, 2000, 1);
        stage.queue.enqueue(pack(stage, gather, file, reachable, 0, 3));
        assertThat(stage.result(0)).isEqualTo(300);
        int at = stage.host.index(reachable.hostAddress());
        System.arraycopy(stage.host.space, at, memory.bytes, 0, 300);
        assertPairs(gather, file, 0, 3);
        assertThat(stage.host.space[at + 300]).as("the byte behind (rule 206)").isEqualTo((byte) 7);
        assertThat(stage.device.started).isZero();
        reachable.free();
        stage.close();
    }

    @Test
    void aPairBehindTheEndOfTheFileEndsThePrefix() {
        FakeFile file = new FakeFile(10_000, 1, 1);
        stage.host.shortCounts = false;
        Transfer gather = Gathers.of(1000, 500, 20_000, 20);
        stage.queue.enqueue(pack(stage, gather, file, memory, 0, 3));
        assertThat(stage.result(0)).isEqualTo(1000);
        assertPairs(gather, file, 0, 1);
        stage.close();
    }

    /**
     * In turn: the length of the pairs, their offsets, and, behind the first pair, the place in the staging buffer
     * alone.
     */
    @ParameterizedTest
    @CsvSource({"256, 512, 1024, 1280", "1024, 514, 5122, 9218", "1026, 512, 4096, 8192"})
    void oneMisalignedEdgeIsEnoughToReadBlocks(int length, long first, long second, long third) {
        FakeFile file = new FakeFile(SIZE, 512, 1);
        stage.host.shortCounts = false;
        Transfer gather = Gathers.of(length, first, second, third);
        stage.queue.enqueue(pack(stage, gather, file, memory, 0, 3));
        assertThat(stage.result(0)).isEqualTo(3L * length);
        assertPairs(gather, file, 0, 3);
        stage.close();
    }

    @Test
    void blocksOfAPairThatDoNotFitTheStagingBufferAreRefused() {
        FakeFile file = new FakeFile(SIZE, 1 << 16, 1);
        Transfer gather = Gathers.of(1000, 500, 9500);
        stage.queue.enqueue(pack(stage, gather, file, memory, 0, 2));
        assertThat(stage.failure(0).error().symbol()).isEqualTo("BLOCKS_DO_NOT_FIT_BUFFER");
        stage.close();
    }
}
