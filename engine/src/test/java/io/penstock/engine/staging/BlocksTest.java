// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.staging;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.Options;
import io.penstock.engine.spi.DeviceMemory;
import io.penstock.engine.spi.Limits;
import io.penstock.engine.spi.NativeFailure;
import io.penstock.engine.spi.staging.ThreadRule;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class BlocksTest {

    private static final int STAGING = Stage.STAGING;
    private static final int SIZE = 10 * STAGING + 1234;

    private final Options options = StagingSettings.of(STAGING, 2, 4);
    private final FakeDevice.Memory memory = new FakeDevice.Memory(SIZE);
    private final Stage stage = new Stage(ThreadRule.MANY, 1, 4, 1);

    @ParameterizedTest
    @CsvSource({
        "512, 0, 16384",
        "512, 511, 16384",
        "4096, 4095, 16384",
        "4096, 1, 16384",
        "4096, 4000, 200",
        "4096, 163830, 1244",
        "4096, 165000, 74"
    })
    void readOfAnyRangeTakesInTheBlocksAroundIt(long block, long offset, long bytes) {
        FakeFile file = new FakeFile(SIZE, block, 1);
        stage.read(0, file, offset, memory, 3, bytes);
        assertThat(stage.result(0)).isEqualTo(bytes);
        assertThat(Arrays.copyOfRange(memory.bytes, 3, 3 + (int) bytes))
                .isEqualTo(Arrays.copyOfRange(file.bytes, (int) offset, (int) (offset + bytes)));
        assertThat(memory.bytes[2]).isZero();
        assertThat(memory.bytes[3 + (int) bytes]).isZero();
        stage.close();
    }

    @Test
    void readAcrossTheEndOfAFileWithBlocksIsShort() {
        FakeFile file = new FakeFile(SIZE, 4096, 1);
        stage.host.shortCounts = false;
        stage.read(0, file, SIZE - 10, memory, 0, 100);
        stage.read(1, file, SIZE + 10, memory, 0, 100);
        assertThat(stage.result(0)).isEqualTo(10);
        assertThat(stage.result(1)).isZero();
        stage.close();
    }

    @ParameterizedTest
    @CsvSource({"8192, 100, 5000", "8192, 0, 12288", "0, 0, 200"})
    void aReadThatIsInterruptedAmidABlockIsNoEndOfTheFile(long offset, int count, long bytes) {
        FakeFile file = new FakeFile(SIZE, 4096, 1);
        stage.host.shortCounts = false;
        stage.host.nextCounts.add(100 + count);
        stage.read(0, file, offset, memory, 0, bytes);
        assertThat(stage.result(0)).isEqualTo(bytes);
        assertThat(Arrays.copyOf(memory.bytes, (int) bytes))
                .isEqualTo(Arrays.copyOfRange(file.bytes, (int) offset, (int) (offset + bytes)));
        stage.close();
    }

    /** The second count is of the block that the first one ended in. */
    @ParameterizedTest
    @CsvSource({"100, 100", "100, 60", "5000, 904", "5000, 5"})
    void aReadThatIsInterruptedTwiceAmidABlockIsNoEndOfTheFile(int first, int second) {
        FakeFile file = new FakeFile(SIZE, 4096, 1);
        stage.host.shortCounts = false;
        stage.host.nextCounts.addAll(List.of(first, second, 1));
        stage.read(0, file, 8192, memory, 0, 12288);
        assertThat(stage.result(0)).isEqualTo(12288);
        assertThat(Arrays.copyOf(memory.bytes, 12288)).isEqualTo(Arrays.copyOfRange(file.bytes, 8192, 8192 + 12288));
        stage.close();
    }

    /** Such a file has no other end than a read of 0 bytes; the kernel may let it be read amid its blocks. */
    @Test
    void required_103_aFileThatStatesNoLengthIsReadToItsEnd() {
        FakeFile file = new FakeFile(SIZE, 4096, 1);
        file.statesNoLength = true;
        file.readsAnywhere = true;
        stage.host.shortCounts = false;
        stage.host.nextCounts.addAll(List.of(100, 100, 60, 60, 7, 160, 0));
        stage.read(0, file, 8192, memory, 0, 12288);
        assertThat(stage.result(0)).isEqualTo(167); // the first read of 0 bytes ends it
        stage.read(1, file, SIZE - 5000, memory, 0, 6000);
        assertThat(stage.result(1)).isEqualTo(5000);
        assertThat(Arrays.copyOf(memory.bytes, 5000)).isEqualTo(Arrays.copyOfRange(file.bytes, SIZE - 5000, SIZE));
        stage.close();
    }

    @Test
    void aFileThatStatesNoLengthEndsWhereTheKernelRefusesToReadOnAmidABlock() {
        FakeFile file = new FakeFile(SIZE, 4096, 1);
        file.statesNoLength = true;
        stage.host.shortCounts = false;
        stage.host.nextCounts.addAll(Collections.nCopies(1000, 100));
        stage.read(0, file, 8192, memory, 0, 12288);
        assertThat(stage.result(0)).isEqualTo(100);
        assertThat(stage.host.calls).isLessThan(200);
        stage.close();
    }

    /** Each read of the block may bring more of it. */
    @Test
    void aFileThatStatesNoLengthIsReadToItsEndWhereTheKernelRefusesToReadOnAmidABlock() {
        FakeFile file = new FakeFile(SIZE, 4096, 1);
        file.statesNoLength = true;
        stage.host.shortCounts = false;
        stage.host.nextCounts.addAll(List.of(100, 100, 60, 100));
        stage.read(0, file, 8192, memory, 0, 12288);
        assertThat(stage.result(0)).isEqualTo(12288);
        stage.close();
    }

    @Test
    void anErrorAmidABlockOfAFileThatStatesNoLengthIsNoEnd() {
        FakeFile file = new FakeFile(SIZE, 4096, 1);
        file.statesNoLength = true;
        file.readsAnywhere = true;
        stage.host.shortCounts = false;
        stage.host.nextCounts.addAll(List.of(100, 100, FakeHost.EIO));
        stage.read(0, file, 8192, memory, 0, 12288);
        assertThat(stage.failure(0).error().symbol()).isEqualTo("EIO");
        stage.close();
    }

    @Test
    void aReadWithoutProgressFails() {
        FakeFile file = new FakeFile(SIZE, 4096, 1);
        stage.host.shortCounts = false;
        stage.host.nextCounts.addAll(Collections.nCopies(1000, 100));
        stage.read(0, file, 8192, memory, 0, 12288);
        assertThat(stage.failure(0).toString()).contains("read 100 bytes of 12288 at 8192");
        assertThat(stage.host.calls).isLessThan(100);
        stage.close();
    }

    @Test
    void alignedBlocksGoStraightToReachableMemory() {
        FakeFile file = new FakeFile(SIZE, 4096, 1);
        DeviceMemory bounce = stage.device.allocateStagingBuffer(8192);
        stage.read(0, file, 8192, bounce, 4096, 4096);
        assertThat(stage.result(0)).isEqualTo(4096);
        stage.write(1, bounce, 4096, file, 0, 4096);
        assertThat(stage.result(1)).isEqualTo(4096);
        assertThat(Arrays.copyOf(file.bytes, 4096)).isEqualTo(Arrays.copyOfRange(file.bytes, 8192, 12288));
        assertThat(stage.host.callsByBuffers).as("calls on staging buffers").isZero();
        bounce.free();
        stage.close();
    }

    @Test
    void unalignedRangeReachesReachableMemoryThroughAStagingBuffer() {
        FakeFile file = new FakeFile(SIZE, 4096, 1);
        DeviceMemory reachable = stage.host.allocate(8192);
        stage.read(0, file, 5000, reachable, 11, 6000);
        assertThat(stage.result(0)).isEqualTo(6000);
        int at = stage.host.index(reachable.hostAddress()) + 11;
        assertThat(Arrays.copyOfRange(stage.host.space, at, at + 6000))
                .isEqualTo(Arrays.copyOfRange(file.bytes, 5000, 11_000));
        assertThat(stage.device.started).isZero();
        stage.write(1, reachable, 11, new FakeFile(0, 1, 1), 0, 6000);
        assertThat(stage.result(1)).isEqualTo(6000);
        reachable.free();
        stage.close();
    }

    /** Only where address, offset and length are all multiples of the block may the file get the memory itself. */
    @ParameterizedTest
    @CsvSource({"2, 1024, 1024", "0, 1026, 1024", "0, 1024, 1026", "0, 1024, 2"})
    void oneMisalignedEdgeIsEnoughForAStagingBuffer(int inMemory, long offset, long bytes) {
        FakeFile file = new FakeFile(SIZE, 512, 1);
        DeviceMemory reachable = stage.host.allocate(8192);
        stage.read(0, file, offset, reachable, inMemory, bytes);
        assertThat(stage.result(0)).isEqualTo(bytes);
        int at = stage.host.index(reachable.hostAddress()) + inMemory;
        assertThat(Arrays.copyOfRange(stage.host.space, at, at + (int) bytes))
                .isEqualTo(Arrays.copyOfRange(file.bytes, (int) offset, (int) (offset + bytes)));
        reachable.free();
        stage.close();
    }

    @Test
    void aWriteOfWhichNoMoreIsTakenIsShort() {
        FakeFile file = new FakeFile(SIZE, 1, 1);
        stage.host.nextCounts.addAll(List.of(60, 0));
        stage.write(0, memory, 0, file, 0, 100);
        assertThat(stage.result(0)).isEqualTo(60);
        stage.close();
    }

    @Test
    void nothingIsCopiedWhereTheFileHasEnded() {
        stage.read(0, new FakeFile(SIZE, 1, 1), SIZE + 10, memory, 0, 100);
        assertThat(stage.result(0)).isZero();
        assertThat(stage.device.started).as("copies").isZero();
        stage.close();
    }

    @Test
    void blocksThatDoNotFitTheStagingBufferAreRefused() {
        FakeFile file = new FakeFile(SIZE, 1 << 16, 1);
        stage.read(0, file, 100, memory, 0, STAGING);
        NativeFailure failure = stage.failure(0);
        assertThat(failure.error().symbol()).isEqualTo("BLOCKS_DO_NOT_FIT_BUFFER");
        assertThat(failure.kind()).isEqualTo(NativeFailure.Kind.PERMANENT);
        stage.close();
    }

    @Test
    void fileOpenForReadingHasNoBlocksAndOneOpenForWritingStatesThem() {
        FakeFile file = new FakeFile(SIZE, 4096, 1);
        Limits reading = new StagedFile(file, stage.host, options, false).limits();
        assertThat(reading).isEqualTo(new Limits(1, 1, STAGING, STAGING, true));
        Limits writing = new StagedFile(file, stage.host, options, true).limits();
        assertThat(writing).isEqualTo(new Limits(4096, 1, STAGING, STAGING, true));
    }

    @Test
    void largeBlocksMakeSegmentsSmaller() {
        Options large = StagingSettings.of(1 << 20, 2, 4);
        FakeFile file = new FakeFile(SIZE, 1 << 16, 1);
        Limits limits = new StagedFile(file, stage.host, large, false).limits();
        assertThat(limits.maxBytes()).isEqualTo((1 << 20) - 3 * (1 << 16));
        assertThatThrownBy(() -> new StagedFile(file, stage.host, options, false))
                .isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void stagedFileReadsAndSyncsTheHostsFile() {
        FakeFile file = new FakeFile(SIZE, 1, 1);
        StagedFile staged = new StagedFile(file, stage.host, options, false);
        stage.read(0, staged, 10, memory, 0, 100);
        assertThat(stage.result(0)).isEqualTo(100);
        assertThat(memory.bytes[0]).isEqualTo(file.bytes[10]);
        stage.queue.enqueue(stage.requests.next(1).sync(staged));
        assertThat(stage.result(1)).isZero();
        assertThat(file.syncs).isEqualTo(1);
        stage.close();
    }
}
