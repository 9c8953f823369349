// SPDX-License-Identifier: Apache-2.0
package io.penstock;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatNullPointerException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Its files, buffers and fences throw when touched: a transfer is a value. */
class TransferTest {

    private final StorageFile file = Untouched.file("/data/weights.bin", 10_000);
    private final DeviceBuffer buffer = Untouched.buffer(10_000);

    @Test
    void aTransferIsAPairOfEqualLengthsInOneDirection() {
        Transfer read = Transfer.read(file.region(100, 50), buffer.region(7, 50));
        assertThat(read.isRead()).isTrue();
        assertThat(read.pairs()).isOne();
        assertThat(read.fileRegion(0)).isEqualTo(file.region(100, 50));
        assertThat(read.target(0)).isEqualTo(buffer.region(7, 50));
        assertThat(read.target()).isEqualTo(buffer.region(7, 50));
        assertThat(read.length()).isEqualTo(50);
        assertThat(Transfer.write(buffer.region(7, 50), file.region(100, 50)).isRead())
                .isFalse();
    }

    @Test
    void unequalLengthsAreRefusedWithBoth() {
        String message = "file region and target must have the same length, had 50 and 51 bytes";
        assertThatIllegalArgumentException()
                .isThrownBy(() -> Transfer.read(file.region(0, 50), buffer.region(0, 51)))
                .withMessage(message);
        assertThatIllegalArgumentException()
                .isThrownBy(() -> Transfer.write(buffer.region(0, 51), file.region(0, 50)))
                .withMessage(message);
    }

    @Test
    void andAppendsPairsAndDoesNotChangeTheFirstTransfer() {
        Transfer one = Transfer.read(file.region(0, 10), buffer.region(0, 10)).tag("mine");
        Transfer two = one.and(file.region(500, 20), buffer.region(10, 20));
        Transfer four = two.and(List.of(
                Transfer.read(file.region(1, 1), buffer.region(30, 1)).tag("dropped"),
                Transfer.read(file.region(2, 2), buffer.region(31, 2))));
        assertThat(one.pairs()).isOne();
        assertThat(two.pairs()).isEqualTo(2);
        assertThat(four.pairs()).isEqualTo(4);
        assertThat(four.fileRegion(1)).isEqualTo(file.region(500, 20));
        assertThat(four.target(3)).isEqualTo(buffer.region(31, 2));
        assertThat(four.fileOffset(2)).isEqualTo(1);
        assertThat(four.pairLength(3)).isEqualTo(2);
        assertThat(four.length()).isEqualTo(33);
        assertThat(four.tag()).contains("mine");
        assertThat(four.target()).as("the target of the first pair").isEqualTo(buffer.region(0, 10));
    }

    @Test
    void andKeepsTheDirection() {
        Transfer write = Transfer.write(buffer.region(0, 10), file.region(0, 10));
        Transfer two = write.and(file.region(20, 10), buffer.region(10, 10));
        assertThat(two.isRead()).isFalse();
        assertThat(two.pairs()).isEqualTo(2);
        assertThatIllegalArgumentException()
                .isThrownBy(() -> write.and(List.of(Transfer.read(file.region(0, 1), buffer.region(0, 1)))))
                .withMessage("all pairs must go in the same direction: read of 1 bytes at 0 of " + file.path()
                        + " cannot be added to" + " write of 10 bytes at 0 of " + file.path());
    }

    @Test
    void andRefusesUnequalLengths() {
        Transfer read = Transfer.read(file.region(0, 10), buffer.region(0, 10));
        assertThatIllegalArgumentException()
                .isThrownBy(() -> read.and(file.region(0, 1), buffer.region(0, 2)))
                .withMessageContaining("had 1 and 2 bytes");
    }

    @Test
    void pairsThatAreNotThereAreOutOfBounds() {
        Transfer read = Transfer.read(file.region(0, 10), buffer.region(0, 10));
        for (int pair : new int[] {-1, 1}) {
            assertThatThrownBy(() -> read.fileRegion(pair)).isInstanceOf(IndexOutOfBoundsException.class);
            assertThatThrownBy(() -> read.target(pair)).isInstanceOf(IndexOutOfBoundsException.class);
        }
    }

    @Test
    void aGatherPlacesItsBlocksOneAfterTheOther() {
        long[] offsets = {5000, 0, 12};
        Transfer gather = Transfer.gather(file, offsets, 4, buffer.region(100, 12));
        Arrays.fill(offsets, 77); // they were copied
        assertThat(gather.isGather()).isTrue();
        assertThat(gather.isRead()).isTrue();
        assertThat(gather.pairs()).isEqualTo(3);
        assertThat(gather.length()).isEqualTo(12);
        assertThat(gather.fileRegion(0)).isEqualTo(file.region(5000, 4));
        assertThat(gather.fileRegion(2)).isEqualTo(file.region(12, 4));
        assertThat(gather.fileOffset(0)).isEqualTo(5000);
        assertThat(gather.fileOffset(1)).isZero();
        assertThat(gather.pairLength(1)).isEqualTo(4);
        assertThat(gather.target(2)).isEqualTo(buffer.region(108, 4));
        assertThat(gather.target()).isEqualTo(buffer.region(100, 12));
    }

    @Test
    void aGatherFillsItsTarget() {
        BufferRegion twelve = buffer.region(0, 12);
        assertThatIllegalArgumentException()
                .isThrownBy(() -> Transfer.gather(file, new long[] {0, 4}, 4, twelve))
                .withMessage("the target must have 8 bytes for 2 blocks of 4, had 12");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> Transfer.gather(file, new long[0], 4, buffer.region(0, 0)))
                .withMessage("a gather must have at least 1 block of at least 1 byte, had 0 of 4");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> Transfer.gather(file, new long[] {0}, 0, buffer.region(0, 0)))
                .withMessage("a gather must have at least 1 block of at least 1 byte, had 1 of 0");
        for (long bad : new long[] {-1, Long.MAX_VALUE - 3}) {
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> Transfer.gather(file, new long[] {0, 4, bad}, 4, twelve))
                    .withMessage("offsets must be at least 0, and blocks end within a long, was " + bad);
        }
    }

    @Test
    void aGatherOfMoreThanTwoGigabytesAddsUp() {
        DeviceBuffer large = Untouched.buffer(3L << 30);
        Transfer gather = Transfer.gather(file, new long[] {0, 1, 2}, 1 << 30, large.all());
        assertThat(gather.length()).isEqualTo(3L << 30);
        assertThat(gather.target(2)).isEqualTo(large.region(2L << 30, 1 << 30));
        assertThatIllegalArgumentException()
                .as("2^32 bytes are no 0 bytes")
                .isThrownBy(() -> Transfer.gather(file, new long[] {0, 1, 2, 3}, 1 << 30, large.region(0, 0)));
    }

    @Test
    void aGatherNeitherTakesPairsNorJoins() {
        Transfer gather = Transfer.gather(file, new long[] {0, 4}, 4, buffer.region(0, 8));
        Transfer read = Transfer.read(file.region(0, 8), buffer.region(0, 8));
        assertThatIllegalArgumentException().isThrownBy(() -> gather.and(file.region(0, 1), buffer.region(0, 1)));
        assertThatIllegalArgumentException().isThrownBy(() -> gather.and(List.of()));
        assertThatIllegalArgumentException()
                .isThrownBy(() -> read.and(List.of(gather)))
                .withMessageContaining("gather");
    }

    @Test
    void termsAddUpAndTheTransferTheyAreAddedToStaysPlain() {
        Transfer plain = Transfer.read(file.region(0, 8), buffer.region(0, 8));
        DeviceFence first = Untouched.fence();
        DeviceFence second = Untouched.fence();
        Transfer all = plain.after(first)
                .ordered("key")
                .tag("tag")
                .deadline(Duration.ofSeconds(1))
                .requireDirect()
                .after(second);
        assertThat(all.after()).containsExactly(first, second);
        assertThat(all.orderKey()).contains("key");
        assertThat(all.tag()).contains("tag");
        assertThat(all.deadline()).contains(Duration.ofSeconds(1));
        assertThat(all.isDirectRequired()).isTrue();
        assertThat(all.isPlain()).isFalse();
        assertThat(all.fileRegion(0)).isEqualTo(plain.fileRegion(0));
        assertThat(plain.isPlain()).isTrue();
        assertThat(plain.after()).isEmpty();
        assertThat(plain.orderKey()).isEmpty();
        assertThat(plain.deadline()).isEmpty();
        assertThat(plain.isDirectRequired()).isFalse();
    }

    @Test
    void aTagAloneIsNoTerm() {
        Transfer plain = Transfer.read(file.region(0, 8), buffer.region(0, 8));
        assertThat(plain.tag("tag").isPlain()).isTrue();
        assertThat(plain.ordered("key").isPlain()).isFalse();
        assertThat(plain.deadline(Duration.ofDays(1)).isPlain()).isFalse();
        assertThat(plain.requireDirect().isPlain()).isFalse();
        assertThat(plain.after(Untouched.fence()).isPlain()).isFalse();
        assertThat(plain.on(() -> 1).isPlain()).isFalse();
    }

    @Test
    void aTransferIsOnTheLastQueueThatWasNamed() {
        Transfer plain = Transfer.read(file.region(0, 8), buffer.region(0, 8));
        DeviceQueue first = () -> 1;
        DeviceQueue second = () -> 2;
        assertThat(plain.queue()).isEmpty();
        assertThat(plain.on(first).ordered("key").tag("tag").requireDirect().queue())
                .containsSame(first);
        assertThat(plain.on(first).on(second).after(Untouched.fence()).queue()).containsSame(second);
        assertThat(plain.on(first).deadline(Duration.ofDays(1)).queue()).containsSame(first);
    }

    @Test
    void termsThatCannotBeAreRefused() {
        Transfer plain = Transfer.read(file.region(0, 8), buffer.region(0, 8));
        assertThatIllegalArgumentException()
                .isThrownBy(() -> plain.deadline(Duration.ZERO))
                .withMessage("deadline must be positive, was PT0S");
        assertThatIllegalArgumentException().isThrownBy(() -> plain.deadline(Duration.ofNanos(-1)));
        assertThatNullPointerException().isThrownBy(() -> plain.ordered(null)).withMessage("key");
        assertThatNullPointerException().isThrownBy(() -> plain.tag(null)).withMessage("tag");
        assertThatNullPointerException().isThrownBy(() -> plain.after((DeviceFence) null));
    }

    @Test
    void aTransfersTextNamesWhatItMoves() {
        Transfer read = Transfer.read(file.region(4096, 8), buffer.region(0, 8));
        assertThat(read).hasToString("read of 8 bytes at 4096 of " + file.path());
        assertThat(read.and(file.region(0, 2), buffer.region(8, 2)))
                .hasToString("read of 10 bytes at 4096 of " + file.path() + ", first of 2 pairs");
        assertThat(Transfer.write(buffer.region(0, 8), file.region(0, 8)))
                .hasToString("write of 8 bytes at 0 of " + file.path());
    }
}
