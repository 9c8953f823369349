// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.plan;

import static io.penstock.engine.plan.SegmentLines.BLOCKS;
import static io.penstock.engine.plan.SegmentLines.cursor;
import static io.penstock.engine.plan.SegmentLines.ground;
import static io.penstock.engine.plan.SegmentLines.limits;
import static io.penstock.engine.plan.SegmentLines.lines;
import static io.penstock.engine.plan.SegmentLines.plan;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.penstock.DeviceBuffer;
import io.penstock.StorageFile;
import io.penstock.Transfer;
import io.penstock.engine.spi.Limits;
import java.lang.management.ManagementFactory;
import java.util.List;
import org.junit.jupiter.api.Test;

class SegmentCursorTest {

    private static final long K = 1024;
    private static final Limits ANY = limits(1, 1, 8 * K, false);
    private static final Limits PACKS = limits(512, 512, 4 * K, true);

    private final StorageFile file = new NamedFile("a", 1);
    private final DeviceBuffer buffer = new NamedBuffer("b", 0, Long.MAX_VALUE);

    @Test
    void aShortTransferWithoutBlocksIsOneSegment() {
        assertThat(plan(read(4095, 100, 8 * K), ANY)).containsExactly("BODY 4095 -> 100: 8192 pair 0");
    }

    @Test
    void aLongTransferIsCutAtMultiplesOfTheSegmentInTheFile() {
        assertThat(plan(read(3000, 7, 20 * K), ANY))
                .containsExactly(
                        "BODY 3000 -> 7: 5192 pair 0",
                        "BODY 8192 -> 5199: 8192 pair 0",
                        "BODY 16384 -> 13391: 7096 pair 0");
    }

    @Test
    void unalignedEdgesBounceAndTheBodyIsDirect() {
        assertThat(plan(read(1000, 2024, 25000), BLOCKS))
                .containsExactly(
                        "BOUNCE 1000 -> 2024: 3096 in 0 + 4096 pair 0",
                        "BODY 4096 -> 5120: 4096 pair 0",
                        "BODY 8192 -> 9216: 8192 pair 0",
                        "BODY 16384 -> 17408: 8192 pair 0",
                        "BOUNCE 24576 -> 25600: 1424 in 24576 + 4096 pair 0");
    }

    @Test
    void aTransferWithoutAnAlignedBlockBouncesCompletely() {
        assertThat(plan(read(4000, 0, 200), BLOCKS)).containsExactly("BOUNCE 4000 -> 0: 200 in 0 + 8192 pair 0");
        assertThat(plan(read(10, 10, 1), BLOCKS)).containsExactly("BOUNCE 10 -> 10: 1 in 0 + 4096 pair 0");
    }

    @Test
    void memoryThatDisagreesWithTheFileBouncesInCoversThatShareNoBlock() {
        assertThat(plan(read(1000, 1, 40000), BLOCKS))
                .containsExactly(
                        "BOUNCE 1000 -> 1: 15384 in 0 + 16384 pair 0",
                        "BOUNCE 16384 -> 15385: 16384 in 16384 + 16384 pair 0",
                        "BOUNCE 32768 -> 31769: 8232 in 32768 + 12288 pair 0");
    }

    @Test
    void theLastBlockOfAReadIsDirectIfTheBufferHasSlackForIt() {
        DeviceBuffer five = new NamedBuffer("s", 0, 5000);
        Transfer whole = Transfer.read(file.region(4096, 5000), five.all());
        assertThat(slackly(whole, 3192)).containsExactly("BODY 4096 -> 0: 5000 pair 0");
        assertThat(slackly(whole, 3191))
                .containsExactly("BODY 4096 -> 0: 4096 pair 0", "BOUNCE 8192 -> 4096: 904 in 8192 + 4096 pair 0");
        assertThat(slackly(Transfer.read(file.region(0, 100), five.region(4096, 100)), 4096))
                .as("bytes of the buffer follow")
                .containsExactly("BOUNCE 0 -> 4096: 100 in 0 + 4096 pair 0");
        assertThat(slackly(Transfer.write(five.all(), file.region(4096, 5000)), 4096))
                .as("a write's last block belongs to the file")
                .containsExactly("BODY 4096 -> 0: 4096 pair 0", "BOUNCE 8192 -> 4096: 904 in 8192 + 4096 pair 0");
        assertThat(slackly(Transfer.read(file.region(50, 5000), five.all()), 8192))
                .as("no block starts where the buffer does")
                .containsExactly("BOUNCE 50 -> 0: 5000 in 0 + 8192 pair 0");
        Transfer joined = Transfer.read(file.region(0, 4096), five.region(0, 4096))
                .and(file.region(4096, 904), five.region(4096, 904))
                .and(file.region(9, 0), five.region(0, 0));
        assertThat(slackly(joined, 4096)).containsExactly("BODY 0 -> 0: 5000 pairs 0 to 1");
    }

    private static List<String> slackly(Transfer transfer, long slack) {
        return lines(new SegmentCursor(transfer, ground(BLOCKS, slack), 16 * K));
    }

    @Test
    void theAddressOfTheBufferCountsForAlignment() {
        DeviceBuffer odd = new NamedBuffer("odd", 100, 64 * K);
        assertThat(plan(Transfer.read(file.region(0, 4 * K), odd.region(412, 4 * K)), BLOCKS))
                .containsExactly("BODY 0 -> 412: 4096 pair 0");
        assertThat(plan(Transfer.read(file.region(0, 4 * K), odd.region(0, 4 * K)), BLOCKS))
                .containsExactly("BOUNCE 0 -> 0: 4096 in 0 + 4096 pair 0");
    }

    @Test
    void aBodyStartsWhereFileAndMemoryAgreeEvenIfMemoryIsStricter() {
        assertThat(plan(read(512, 1024, 20 * K), limits(512, 4 * K, 6 * K, false)))
                .containsExactly(
                        "BOUNCE 512 -> 1024: 3072 in 512 + 3072 pair 0",
                        "BODY 3584 -> 4096: 4096 pair 0",
                        "BODY 7680 -> 8192: 4096 pair 0",
                        "BODY 11776 -> 12288: 4096 pair 0",
                        "BODY 15872 -> 16384: 4096 pair 0",
                        "BODY 19968 -> 20480: 1024 pair 0");
    }

    @Test
    void offsetsGoUpToTheEndOfTheLongestFile() {
        long last = Long.MAX_VALUE - 5000;
        assertThat(plan(read(last, 0, 5000), BLOCKS))
                .containsExactly("BOUNCE " + last + " -> 0: 5000 in " + (Long.MAX_VALUE - 8191) + " + 8192 pair 0");
        assertThat(plan(read(last, 0, 5000), ANY)).containsExactly("BODY " + last + " -> 0: 5000 pair 0");
        assertThat(plan(read(5L << 32, 3L << 33, 12 * K), ANY))
                .containsExactly(
                        "BODY 21474836480 -> 25769803776: 8192 pair 0", "BODY 21474844672 -> 25769811968: 4096 pair 0");
    }

    @Test
    void pairsThatLieSideBySideOnBothSidesAreJoined() {
        Transfer transfer = read(0, 0, 3000)
                .and(List.of(read(9, 9, 0)))
                .and(List.of(read(3000, 3000, 3000)))
                .and(List.of(read(6000, 6000, 4000)))
                .and(List.of(read(10000, 10001, 50)));
        assertThat(plan(transfer, ANY))
                .containsExactly(
                        "BODY 0 -> 0: 8192 pairs 0 to 3",
                        "BODY 8192 -> 8192: 1808 pair 3",
                        "BODY 10000 -> 10001: 50 pair 4");
    }

    @Test
    void otherFilesAndOtherBuffersAreNotJoined() {
        StorageFile second = new NamedFile("a", 1);
        Transfer otherFile = read(0, 0, 10).and(second.region(10, 10), buffer.region(10, 10));
        assertThat(plan(otherFile, ANY)).as("equal, but not the same").hasSize(2);
        DeviceBuffer another = new NamedBuffer("c", 0, 100);
        Transfer otherBuffer = read(0, 0, 10).and(file.region(10, 10), another.region(10, 10));
        assertThat(plan(otherBuffer, ANY)).hasSize(2);
    }

    @Test
    void pairsOfLengthZeroGiveNoSegment() {
        assertThat(plan(read(77, 3, 0), BLOCKS)).isEmpty();
        assertThat(plan(read(77, 3, 0).and(List.of(read(4096, 4096, 4096))), BLOCKS))
                .containsExactly("BODY 4096 -> 4096: 4096 pair 1");
    }

    @Test
    void scatteredBlocksOfAGatherArePackedUpToASegment() {
        long[] offsets = {8192, 0, 4096, 1024, 512, 2048};
        assertThat(plan(Transfer.gather(file, offsets, 1024, buffer.region(512, 6 * K)), PACKS))
                .containsExactly("PACKED 8192 -> 512: 4096 pairs 0 to 3", "PACKED 512 -> 4608: 2048 pairs 4 to 5");
    }

    @Test
    void neighboursInAGatherAreJoinedWhereThatCarriesMore() {
        long[] offsets = {0, 1024, 2048, 3072, 4096, 9216, 20480, 30720};
        assertThat(plan(Transfer.gather(file, offsets, 1024, buffer.region(0, 8 * K)), PACKS))
                .containsExactly(
                        "BODY 0 -> 0: 4096 pairs 0 to 3",
                        "BODY 4096 -> 4096: 1024 pair 4",
                        "PACKED 9216 -> 5120: 3072 pairs 5 to 7");
    }

    @Test
    void anUnalignedBlockOfAGatherIsNotPacked() {
        long[] offsets = {4096, 100, 8192, 16384};
        assertThat(plan(Transfer.gather(file, offsets, 1024, buffer.region(0, 4 * K)), PACKS))
                .containsExactly(
                        "BODY 4096 -> 0: 1024 pair 0",
                        "BOUNCE 100 -> 1024: 1024 in 0 + 1536 pair 1",
                        "PACKED 8192 -> 2048: 2048 pairs 2 to 3");
    }

    @Test
    void aBlockOfAGatherThatIsLongerThanASegmentIsCut() {
        assertThat(plan(Transfer.gather(file, new long[] {16384, 0}, 5120, buffer.region(0, 10 * K)), PACKS))
                .containsExactly(
                        "BODY 16384 -> 0: 4096 pair 0",
                        "BODY 20480 -> 4096: 1024 pair 0",
                        "BODY 0 -> 5120: 4096 pair 1",
                        "BODY 4096 -> 9216: 1024 pair 1");
    }

    @Test
    void aPackedSegmentCanBeTakenApart() {
        Transfer gather = Transfer.gather(file, new long[] {8192, 0, 4096, 5120}, 1024, buffer.region(0, 4 * K));
        SegmentCursor cursor = cursor(gather, PACKS);
        assertThat(cursor.next()).isTrue();
        assertThat(cursor.kind()).isEqualTo(SegmentCursor.Kind.PACKED);
        assertThat(lines(cursor.apart(cursor.pair() + 1, 3)))
                .containsExactly(
                        "BODY 0 -> 1024: 1024 pair 1",
                        "BODY 4096 -> 2048: 1024 pair 2",
                        "BODY 5120 -> 3072: 1024 pair 3");
    }

    @Test
    void countIsTheNumberOfSegmentsAtAnyCursorPosition() {
        SegmentCursor cursor = cursor(read(1000, 2024, 25000), BLOCKS);
        assertThat(cursor.count()).isEqualTo(5);
        cursor.next();
        assertThat(cursor.count()).isEqualTo(5);
        assertThat(lines(cursor)).hasSize(4);
        assertThat(cursor.next()).as("after the last segment").isFalse();
    }

    @Test
    void aWriteMergesOnlyWhereItDoesNotFillItsBlocks() {
        SegmentCursor cursor = cursor(Transfer.write(buffer.region(1, 20 * K), file.region(0, 20 * K)), BLOCKS);
        cursor.next();
        assertThat(cursor.kind()).isEqualTo(SegmentCursor.Kind.BOUNCE);
        assertThat(cursor.isMerge()).isFalse();
        cursor = cursor(Transfer.write(buffer.region(0, 10), file.region(0, 10)), BLOCKS);
        cursor.next();
        assertThat(cursor.isMerge()).isTrue();
    }

    @Test
    void aBounceBufferThatHoldsNoBlockIsAnError() {
        SegmentCursor cursor = new SegmentCursor(read(1, 1, 1), ground(BLOCKS), 4095);
        assertThatThrownBy(cursor::next)
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("4095");
    }

    @Test
    void segmentsCostNoAllocation() {
        assumeTrue(ModuleLayer.boot().findModule("jdk.management").isPresent(), "this Java runtime counts no bytes");
        long[] offsets = new long[200_000];
        for (int i = 0; i < offsets.length; i++) {
            offsets[i] = i * 7919L;
        }
        SegmentCursor gather =
                cursor(Transfer.gather(file, offsets, 1024, buffer.region(0, offsets.length * K)), BLOCKS);
        SegmentCursor large = cursor(read(1, 1, 1L << 31), BLOCKS);
        var threads = (com.sun.management.ThreadMXBean) ManagementFactory.getThreadMXBean();
        gather.next();
        large.next();
        long before = threads.getCurrentThreadAllocatedBytes();
        long segments = 0;
        while (gather.next() || large.next()) {
            segments++;
        }
        assertThat(threads.getCurrentThreadAllocatedBytes() - before).isLessThan(64 * K);
        assertThat(segments).isGreaterThan(199_999);
    }

    private Transfer read(long fileOffset, long targetOffset, long bytes) {
        return Transfer.read(file.region(fileOffset, bytes), buffer.region(targetOffset, bytes));
    }
}
